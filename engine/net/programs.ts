/**
 * Programs of this machine that speak MCP over their standard input and output. Whoever may declare an MCP server is
 * not whoever may run programs here: the operator lists whole command lines by name (SVC_MCP_STDIO_COMMANDS), and what
 * is declared says only which of them is meant, `stdio:NAME`. No word of a command line comes from a document.
 *
 *     files: /usr/local/bin/mcp-files /srv/runbooks; tickets: TOKEN={auth_value} LEVEL=warn mcp-tickets stdio
 */
import { openVariable, variableFault } from './secrets.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The variable that lists them. */
export const PROGRAMS = 'SVC_MCP_STDIO_COMMANDS'

const ADDRESS = /^stdio:([A-Za-z0-9][A-Za-z0-9_.-]{0,63})$/
const ENTRY = /^([A-Za-z0-9][A-Za-z0-9_.-]{0,63}):\s+(\S.*)$/
const VARIABLE = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/
const REFERENCE = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/
/** Where the credential of the MCP server goes. */
const CREDENTIAL = '{auth_value}'

export interface Program {
  name: string
  /** The program, an absolute path or a name that is looked up in PATH, and its arguments. */
  words: readonly [string, ...string[]]
  /** As the operator wrote them: a text, `${NAME}`, or with `{auth_value}`. */
  variables: Readonly<Record<string, string>>
  takesCredential: boolean
}

/** @returns the name of the program that an address of an MCP server means; null: it is another address */
export const programNameOf = (url: unknown): string | null =>
  typeof url === 'string' ? (ADDRESS.exec(url)?.[1] ?? null) : null

/** @returns the programs of a list, or a sentence without its beginning that says which rule it breaks */
export function parsePrograms(text: string, env: Environment): Program[] | string {
  const programs: Program[] = []
  for (const entry of text.split(/[;\n]/).map((one) => one.trim())) {
    if (entry === '') continue
    const program = programIn(entry, env)
    if (typeof program === 'string') return program
    if (programs.some(({ name }) => name === program.name)) return `must not list ${program.name} twice`
    programs.push(program)
  }
  return programs
}

function programIn(entry: string, env: Environment): Program | string {
  const [, name, line] = ENTRY.exec(entry) ?? []
  if (name === undefined || line === undefined)
    return 'must be names with command lines, separated by semicolons, such as files: /usr/local/bin/mcp-files /srv/runbooks'
  const words = line.split(/\s+/)
  const variables: Record<string, string> = {}
  while (VARIABLE.test(words[0] ?? '')) {
    const [, variable, value] = VARIABLE.exec(words.shift()!)!
    const from = REFERENCE.exec(value!)?.[1]
    const fault = from === undefined ? null : variableFault(from, env)
    if (fault !== null) return `has under ${name} a variable that may not be opened: ${fault}`
    variables[variable!] = value!
  }
  const [program, ...args] = words
  if (program === undefined || !/^(?:\/.*[^/]|[^/]+)$/.test(program))
    return `must name the program of ${name} by an absolute path, or by a name that PATH has`
  if (args.some((arg) => arg.includes(CREDENTIAL)))
    return `must not have ${CREDENTIAL} among the arguments of ${name}: they show in the list of processes; put it into a variable before the program`
  const takesCredential = Object.values(variables).some((value) => value.includes(CREDENTIAL))
  return { name, words: [program, ...args], variables, takesCredential }
}

/** Those that the operator lists; a list that breaks a rule is refused when the daemon starts, and is empty here. */
export function programsOf(env: Environment): Program[] {
  const programs = parsePrograms(env[PROGRAMS] ?? '', env)
  return typeof programs === 'string' ? [] : programs
}

/** @returns a program, or a sentence why there is none of that name */
export function programFor(name: string, env: Environment): Program | string {
  const programs = programsOf(env)
  const found = programs.find((program) => program.name === name)
  if (found) return found
  if (programs.length === 0)
    return `stdio:${name} would run a program where svc runs, and the operator allows none: ${PROGRAMS} is not set`
  return `stdio:${name} is none of the programs that ${PROGRAMS} allows (${programs.map((one) => one.name).join(', ')})`
}

/** The command line as people are shown it: values of variables stay with the operator. */
export function commandOf({ words, variables }: Program): string {
  const shown = Object.entries(variables).map(
    ([name, value]) =>
      `${name}=${value === '' || value.includes(CREDENTIAL) || REFERENCE.test(value) ? value : '…'}`,
  )
  return [...shown, ...words].join(' ')
}

/**
 * What a program finds in its environment: what the operator declares, and PATH.
 * @param credential of the MCP server; empty: none
 * @returns them, and the values among them that are secret; or a sentence why one cannot be had
 */
export function variablesOf(
  { variables }: Program,
  credential: string,
  env: Environment,
): { env: Record<string, string>; secrets: string[] } | string {
  const filled: Record<string, string> = env.PATH ? { PATH: env.PATH } : {}
  const secrets: string[] = []
  for (const [name, value] of Object.entries(variables)) {
    const from = REFERENCE.exec(value)?.[1]
    const opened = from === undefined ? null : openVariable(from, env)
    if (typeof opened === 'string') return opened
    filled[name] = opened === null ? value.replaceAll(CREDENTIAL, () => credential) : opened.value
    if (opened !== null) secrets.push(opened.value)
  }
  return { env: filled, secrets }
}
