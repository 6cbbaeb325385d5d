import { describe, expect, it } from 'vitest'
import { commandOf, parsePrograms, programFor, variablesOf } from '../../../engine/net/programs.ts'

const LIST = `files: /usr/local/bin/mcp-files /srv/runbooks ;\n tickets: TOKEN={auth_value} KEY=\${SVC_SECRET_K} LEVEL=warn mcp-tickets stdio;`
const parsed = (text: string, env = {}) => parsePrograms(text, env)

describe('the list of programs', () => {
  it('is names with command lines, whose first words may set variables', () => {
    expect(parsed(LIST)).toEqual([
      {
        name: 'files',
        words: ['/usr/local/bin/mcp-files', '/srv/runbooks'],
        variables: {},
        takesCredential: false,
      },
      {
        name: 'tickets',
        words: ['mcp-tickets', 'stdio'],
        variables: { TOKEN: '{auth_value}', KEY: `\${SVC_SECRET_K}`, LEVEL: 'warn' },
        takesCredential: true,
      },
    ])
    expect(parsed('')).toEqual([])
  })

  it.each([
    ['/usr/bin/mcp', /^must be names with command lines/],
    ['a: x; a: y', /^must not list a twice/],
    ['a: K=v', /^must name the program of a/],
    ['a: bin/mcp', /^must name the program of a by an absolute path, or by a name that PATH has/],
    ['a: mcp --token {auth_value}', /^must not have \{auth_value\} among the arguments of a/],
    [`a: K=\${SVC_AUTH_TOKEN} mcp`, /one of svc's own and is never sent on/],
    [`a: K=\${HOME_GROWN} mcp`, /HOME_GROWN may not be opened/],
  ])('refuses %s', (text, why) => {
    expect(parsed(text)).toMatch(why)
  })

  it('is shown without what its variables hold', () => {
    const [, tickets] = parsed(LIST) as Exclude<ReturnType<typeof parsed>, string>
    expect(commandOf(tickets!)).toBe(`TOKEN={auth_value} KEY=\${SVC_SECRET_K} LEVEL=… mcp-tickets stdio`)
  })
})

describe('a program', () => {
  const env = { SVC_MCP_STDIO_COMMANDS: LIST, SVC_SECRET_K: 'k-1', PATH: '/bin', SVC_AUTH_TOKEN: 'root' }

  it('is one that the operator lists', () => {
    expect(programFor('files', env)).toMatchObject({ name: 'files' })
    expect(programFor('shell', env)).toBe(
      'stdio:shell is none of the programs that SVC_MCP_STDIO_COMMANDS allows (files, tickets)',
    )
    expect(programFor('files', {})).toMatch(/the operator allows none: SVC_MCP_STDIO_COMMANDS is not set$/)
  })

  it('gets PATH and what is declared, and nothing else of the daemon', () => {
    const tickets = programFor('tickets', env) as Exclude<ReturnType<typeof programFor>, string>
    expect(variablesOf(tickets, 'c-$&-1', env)).toEqual({
      env: { PATH: '/bin', TOKEN: 'c-$&-1', KEY: 'k-1', LEVEL: 'warn' },
      secrets: ['k-1'],
    })
    expect(variablesOf(tickets, '', { PATH: '/bin' })).toBe('the variable SVC_SECRET_K is not set')
  })
})
