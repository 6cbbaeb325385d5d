/** Texts of the help that are not an option's own line. */
import { environment } from '../environment.ts'
import { EXIT } from './exit.ts'

const LINE_MAX = 100

/** What each exit code means, in one place for the help and docs/cli.md. */
export const EXIT_MEANINGS: Record<(typeof EXIT)[keyof typeof EXIT], string> = {
  0: 'done',
  1: 'refused, or not as expected',
  2: 'there are changes ("svc catalog plan", "sync" and "adopt", "pull --dry-run", "drift --exit-code")',
  64: 'wrong usage',
  65: 'a file or its lines break a rule',
  66: 'a file cannot be read',
  69: 'the daemon is not reachable',
  70: 'a fault of ours',
  74: 'the disk failed',
  75: 'the data is in use',
  77: 'the credential is missing, not known, or lacks the scope',
  78: 'the configuration, the data home or the data file cannot be used',
  130: 'interrupted',
}

function exitCodes(): string {
  const words = Object.entries(EXIT_MEANINGS).map(([code, meaning]) => `${code} ${meaning}`)
  return words.reduce((text, word) => {
    const isLong = text.slice(text.lastIndexOf('\n') + 1).length + word.length > LINE_MAX
    return `${text},${isLong ? '\n' : ' '}${word}`
  })
}

/** Below the help of each command. */
export const EXITS = `Exit codes: ${EXIT.ok} ${EXIT_MEANINGS[EXIT.ok]}, ${EXIT.failed} ${EXIT_MEANINGS[EXIT.failed]}, ${EXIT.usage} ${EXIT_MEANINGS[EXIT.usage]}; "svc --help" has all of them.`

export const EXAMPLES = `Examples:
  svc up                                          start; the console is at http://127.0.0.1:8787
  svc up --auth                                   the same, with a login
  svc sources add logs --connector webhook --label service=service --primary service
  echo '{"service":"checkout","message":"deployed"}' | svc send logs
  svc read service=checkout --window 1h           one entity's timeline
  svc tail service=checkout                       the same, as it happens
  svc ask "what broke checkout?"                  answered by a model over what is stored
  svc why evt_42                                  why an event fired each trigger, or did not
  svc triggers test gateway-errors --window 7d    when a trigger would have fired
  svc catalog plan catalog.yaml                   what a catalog file would change
  svc catalog apply catalog.yaml                  the same, done after a yes
  svc changes undo 12                             takes one change back

Client commands talk to the daemon that --svcd or SVCD_URL names, else to the saved login,
else to http://127.0.0.1:8787. Every variable is listed by "svc up --help".
Exit codes: ${exitCodes()}.
With --json an error is JSON, too: the last line on standard error.
`

/** The variables the daemon reads, as a table. */
export function describeEnvironment(): string {
  const read = environment.filter((variable) => variable.readers.includes('daemon'))
  const width = Math.max(...read.map((variable) => variable.name.length))
  const lines = read.map(
    (variable) =>
      `  ${variable.name.padEnd(width)}  ${variable.meaning}${variable.default === null ? '' : ` (${variable.default})`}`,
  )
  return `Environment (a flag wins):\n${lines.join('\n')}\n`
}
