import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { NAMED } from '../../../api/cli/reference/tree.ts'
import { type Setting, svc } from './cli-harness.ts'
import { type Daemon, startDaemon } from './real-daemon.ts'

let daemon: Daemon
beforeEach(async () => {
  daemon = await startDaemon()
})
afterEach(() => daemon.stop())

const run = (line: string, setting: Setting = {}) => svc([...line.split(' '), '--svcd', daemon.url], setting)
const fileOf = (text: string): string => {
  const file = join(mkdtempSync(join(tmpdir(), 'svc-cat-')), 'catalog.yaml')
  writeFileSync(file, text)
  return file
}
const catalog = `# ours
sources:
  - name: gw   # the gateway
    connector: webhook
triggers:
  - name: errs
    project: Shop
    sources: [gw]
    condition: { aggregate: count, predicate: "> 5", window: 5m }
agents:
  - name: first
    project: Shop
    trigger: errs
    prompt: Look.
    enabled: true
projects:
  - { template: custom, name: Shop }
`

describe('svc proposals', () => {
  it('lists what waits, shows it, and writes it when it is approved', async () => {
    await run(`catalog apply ${fileOf(catalog)} --why review`, { confirm: true })
    expect((await run('proposals')).out).toBe('no proposal is open\n')
    // What completion asks; where nobody answers it says nothing, on a key press.
    await run('entities add pay service=pay host=pay-1')
    const asked = NAMED.map((noun) => run(`names ${noun}`))
    expect((await Promise.all(asked)).map(({ out }) => out)).toEqual([
      'gw\n',
      'errs\n',
      'first\n',
      '',
      expect.stringMatching(/^Shop$/m),
      '',
      'pay\n',
      '',
    ])
    const silent = await svc(['names', 'sources', '--svcd', 'http://127.0.0.1:1'])
    expect([silent.code, silent.out, silent.err]).toEqual([0, '', ''])
    const operations = [{ op: 'patch', kind: 'trigger', name: 'errs', spec: { cooldown: '1h' } }]
    const answer = await fetch(`${daemon.url}/api/proposals`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ operations, why: 'too noisy' }),
    })
    const { id } = (await answer.json()) as { id: string }
    expect((await run('proposals list')).out).toContain('changes trigger errs')
    expect((await run(`proposals show ${id}`)).out).toContain('cooldown: "5m" (the default) → "1h"')
    const approved = await run(`proposals approve ${id}`)
    expect([approved.code, approved.err]).toEqual([0, expect.stringMatching(/^written as change-set \d+\n$/)])
    const again = await run(`proposals decline ${id} --reason late`)
    expect([again.code, again.err]).toEqual([
      1,
      expect.stringContaining('is approved and does not accept decline'),
    ])
  })
})

describe('svc projects graph', () => {
  it('prints what leads to what, or the answer', async () => {
    await run(`catalog apply ${fileOf(catalog)} --why review`, { confirm: true })
    const { out, code } = await run('projects graph Shop')
    expect(code).toBe(0)
    expect(out).toMatch(/^Shop \(uc_\w+\) is active\nsource gw; webhook; 0 today\n> trigger errs; /)
    expect(out).toContain('  > wakes agent first; default model; 0 today\n')
    const { nodes } = JSON.parse((await run('projects graph Shop --json')).out) as { nodes: { id: string }[] }
    expect(nodes.map(({ id }) => id)).toEqual(['source:gw', 'trigger:errs', 'agent:first'])
    expect((await run('projects graph Nope')).err).toContain('no project has the id or name Nope')
  })
})

describe('svc catalog', () => {
  it('plans with 2 for changes, applies when told to, and then plans with 0', async () => {
    const file = fileOf(catalog)
    const plan = await run(`catalog plan ${file}`)
    expect([plan.code, plan.err]).toEqual([2, ''])
    expect(plan.out).toContain('+ trigger errs\n')
    const asked = await run(`catalog apply ${file}`)
    expect([asked.code, asked.err]).toEqual([1, 'svc: not applied; --yes applies without asking\n'])
    const applied = await run(`catalog apply ${file} --why review`, { confirm: true })
    expect([applied.code, applied.err]).toEqual([
      0,
      'applied as change-set 1; "svc changes undo 1" takes it back\n',
    ])
    const again = await run(`catalog plan ${file}`)
    expect([again.code, again.out]).toEqual([0, 'no change: 4 as they are\n'])
    expect((await run('changes list')).out).toMatch(
      /1 .* catalog +project Shop created; source gw created; .* +review/,
    )
  })

  it('tells every problem with file, line and column', async () => {
    const file = fileOf('sources:\n  - name: a\n    connector: pigeon\n  - colour: red\n')
    const { code, err } = await run(`catalog check ${file}`)
    expect(code).toBe(65)
    expect(err).toContain(`${file}:4:`)
    const second = await run(`catalog plan ${fileOf('sources:\n  - name: a\n    connector: pigeon\n')}`)
    expect([second.code, second.err]).toEqual([
      65,
      expect.stringMatching(/yaml:3:16: sources\[0\]: connector pigeon is not known/),
    ])
  })

  it('brings a file up to date and keeps its comments', async () => {
    const file = fileOf(catalog)
    await run(`catalog apply ${file} --yes`)
    expect((await run(`catalog export --update ${file}`)).err).toBe(
      `no change: ${file} says what the instance has\n`,
    )
    await run('triggers pause errs')
    expect((await run(`catalog export --update ${file}`)).err).toBe(`wrote ${file}\n`)
    expect(readFileSync(file, 'utf8')).toBe(
      catalog.replace('window: 5m }\n', 'window: 5m }\n    paused: true\n'),
    )
    expect((await run('catalog drift')).out).toContain(
      '~ trigger errs\n    paused: true → false (the default)',
    )
    expect(JSON.parse((await run('catalog schema')).out)).toMatchObject({ $id: 'catalog.schema.json' })
  })
})

describe('svc catalog and the file', () => {
  it('refuses a file that is not UTF-8, and leaves it as it is', async () => {
    const file = fileOf('')
    const latin1 = Buffer.from('# caf\u00e9\nsources: []\n', 'latin1')
    writeFileSync(file, latin1)
    const { code, err } = await run(`catalog export --update ${file}`)
    expect([code, err]).toEqual([65, `svc: ${file} is not UTF-8; save it as UTF-8 first\n`])
    expect(readFileSync(file)).toEqual(latin1)
  })

  it('shows nothing that acts on a terminal', async () => {
    const file = fileOf('sources:\n  - name: a\n    connector: webhook\n    "\\e[31mx": 1\n')
    expect((await run(`catalog check ${file}`)).err).not.toContain('\u001b')
    await run(`catalog apply ${fileOf(catalog)} --yes`)
    await run(
      `skills upload ${fileOf('---\nname: red\ndescription: x\n---\n\n# \u001b[31mred\n')} --project Shop`,
    )
    const raw = await run('skills download red --project Shop')
    expect(raw.out).toContain('\u001b[31m')
    for (const line of ['skills download red --project Shop', 'skills show red --project Shop'])
      expect((await run(line, { isTerminal: true })).out).toMatch(/# \\u001b\[31mred\n$/)
  })

  it('applies nothing when the instance changed while the person read the plan, and shows the new one', async () => {
    const file = fileOf(catalog)
    await run(`catalog apply ${file} --yes`)
    const ran = await run(`catalog apply ${fileOf(catalog.replace('Look.', 'Look twice.'))}`, {
      confirm: async () => (await run('triggers delete errs')).code === 0,
    })
    expect(ran.code).toBe(1)
    expect(ran.out).not.toContain('+ trigger errs')
    expect(ran.err).toContain('nothing was applied: the instance changed since that plan')
    expect(ran.err).toContain('would now do this:\n+ trigger errs\n')
    expect((await run('agents show first')).out).toContain('"Look."')
  })

  it('tells the problems of an import that the check did not see', async () => {
    await run('sources add gw --connector webhook')
    const file = fileOf(catalog.slice(catalog.indexOf('triggers:')))
    const ran = await run(`catalog apply ${file}`, {
      confirm: async () => (await run('sources rm gw')).code === 0,
    })
    expect(ran.code).toBe(65)
    expect(ran.err).toContain(`${file}:4:15: triggers[0]: no source is named gw\n`)
    expect((await run('triggers list')).out).not.toContain('errs')
  })

  it('shows the plan beside the JSON when it asks', async () => {
    const asked = await run(`catalog apply ${fileOf(catalog)} --json`, { confirm: true })
    expect(asked.err).toContain('+ trigger errs\n')
    expect(JSON.parse(asked.out)).toMatchObject({ change_set: 1 })
    expect(await run(`catalog apply ${fileOf(catalog)} --json --yes`)).toMatchObject({ code: 0, err: '' })
  })
})

describe('svc changes', () => {
  it('refuses to undo what was changed again, with the values of both', async () => {
    await run(`catalog apply ${fileOf(catalog)} --yes`)
    for (const prompt of ['Look twice.', 'Look away.'])
      await run(`catalog apply ${fileOf(catalog.replace('Look.', prompt))} --yes`)
    const { code, err } = await run('changes undo 2')
    expect(code).toBe(1)
    expect(err).toContain('(HTTP 409 ')
    expect(err).toContain(
      'agent first, prompt:\n  was "Look twice.", is now "Look away.", this change wants "Look."\n',
    )
  })

  it('takes only a number as --limit', async () => {
    expect(await run('changes list --limit x')).toMatchObject({ code: 64, out: '' })
  })

  it('undoes, shows and rolls back', async () => {
    await run(`catalog apply ${fileOf(catalog)} --yes`)
    await run('triggers pause errs')
    expect((await run('changes show 2')).out).toContain('paused: false (the default) → true')
    expect(await run('changes list --limit 1')).toMatchObject({
      out: expect.stringMatching(/^ID .*\n2 .*\n$/),
      err: 'there are more; --before 2 goes on with them\n',
    })
    expect((await run('changes list --kind trigger --name errs')).out.split('\n')).toHaveLength(4)
    expect(await run('changes list --kind agent --name first --before 2')).toMatchObject({
      out: expect.stringMatching(/^ID .*\n1 .*\n$/),
      err: '',
    })
    const dry = await run('changes undo 2 --dry-run')
    expect(dry.out).toContain('~ trigger errs')
    expect((await run('changes undo 2')).err).toBe('done as change-set 3\n')
    expect((await run('triggers list')).out).toMatch(/errs +active/)
    expect((await run('changes rollback 2')).code).toBe(0)
    expect((await run('triggers list')).out).toMatch(/errs +paused/)
    expect((await run('changes undo nonsense')).code).toBe(64)
  })
})

describe('svc projects', () => {
  it('makes one from a template, shows, pauses, resumes, repairs and deletes it', async () => {
    expect((await run('projects templates')).out).toMatch(/webhook_watch .*service/)
    const made = await run(
      'projects create --template webhook_watch --param service=pay --param threshold=9 --name Pay',
    )
    expect(made.out).toMatch(/^made Pay \(uc_[0-9a-f]{10}\) with 5 parts\n$/)
    expect((await run('projects show Pay')).out).toContain('pay-errors wakes pay-first-look')
    expect((await run('projects pause Pay --sources')).out).toBe('Pay is paused\n')
    expect((await run('projects resume Pay')).out).toBe('Pay is running\n')
    await run('agents delete pay-investigator')
    expect((await run('projects show Pay')).out).toContain('agent pay-investigator (missing)')
    expect((await run('projects repair Pay investigator')).code).toBe(0)
    expect((await run('projects results Pay')).out).toBe('nothing found yet\n')
    expect((await run('projects delete Pay')).out).toBe('deleted Pay with 5 parts; 0 stay\n')
    expect((await run('projects list --json')).out).not.toContain('Pay')
  })

  it('puts one together of parts, and leaves them when it goes', async () => {
    await run('sources add gw --connector webhook')
    expect((await run('projects create --template custom --name Shop --object source:gw')).code).toBe(0)
    await run('projects pause Shop --sources')
    const gone = await run('projects delete Shop')
    expect(gone.out).toBe('deleted Shop with 0 parts; 1 stays\n')
    expect(gone.err).toContain('paused with it and still paused: source:gw; resume each')
    expect((await run('sources list')).out).toContain('gw')
    expect((await run('projects create --template custom --name X --object view:v')).code).toBe(64)
  })
})

describe('svc agents, mcp-servers and skills', () => {
  it('switches agents and tells what a delete leaves', async () => {
    await run(`catalog apply ${fileOf(catalog)} --yes`)
    expect((await run('agents list')).out).toMatch(/first +on +errs/)
    const disabled = await run('agents disable first')
    expect([disabled.out, disabled.err]).toEqual(['first: disabled\n', ''])
    expect((await run('agents list --project Shop')).out).toMatch(/first +off/)
    const giver = `agents: [{ name: giver, prompt: Look., project: Shop, verdicts: [bad], handoffs: [{ verdict: bad, agent: first }] }]`
    await run(`catalog apply ${fileOf(giver)} --yes`)
    expect((await run('agents disable first')).err).toBe(
      'warning: first still runs in Shop when giver hands over to it; delete the handoff to end that\n',
    )
    await run('agents delete giver')
    expect((await run('triggers delete errs')).err).toBe('nothing wakes first any more\n')
  })

  it('shows a part with every field, and lists and deletes MCP servers', async () => {
    const servers = 'mcp_servers:\n  - { name: tickets, project: Shop, url: "https://tickets.example/mcp" }\n'
    await run(`catalog apply ${fileOf(catalog + servers)} --yes`)
    const shown = await run('triggers show errs')
    expect(shown.out).toContain('\n  "name": "errs",\n')
    expect(JSON.parse((await run('agents show first --json')).out)).toMatchObject({ prompt: 'Look.' })
    expect((await run('mcp-servers list')).out).toMatch(/tickets +https:\/\/tickets.example\/mcp +none/)
    expect((await run('mcp-servers delete tickets')).out).toBe('deleted tickets\n')
    expect((await run('mcp-servers show tickets')).err).toContain('(HTTP 404 ')
  })

  it('uploads, shares, downloads and removes a skill', async () => {
    await run(`catalog apply ${fileOf(catalog)} --yes`)
    const file = fileOf('---\nname: roll-back\ndescription: How to roll back.\n---\n\n# Roll back\n')
    expect((await run(`skills upload ${file} --project Shop`)).out).toBe('roll-back added\n')
    expect((await run('skills use roll-back --project Default')).code).toBe(1)
    expect((await run('skills download roll-back --project Shop')).out).toContain('# Roll back')
    expect((await run('skills list')).out).toMatch(/roll-back +Shop/)
    expect((await run('skills show roll-back --project Shop')).out).toMatch(
      /^roll-back, changed \S+\nHow to roll back\.\n\n# Roll back\n$/,
    )
    expect((await run('skills remove roll-back --project Shop')).out).toBe('roll-back is deleted\n')
  })
})
