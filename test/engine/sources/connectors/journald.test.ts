/** Sources of the systemd journal: real journals, read by the journalctl of this machine. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { validateConfig } from '../../../../engine/sources/connectors/index.ts'
import { journald } from '../../../../engine/sources/connectors/journald.ts'
import { hasJournal, type Journal, makeJournal } from './journal.ts'
import { mapped, prepared, reach } from './reach.ts'

const line = (message: string | Buffer, more = {}) => ({ MESSAGE: message, _HOSTNAME: 'db-1', ...more })
const messages = (polled: { items: readonly string[] }) =>
  polled.items.map((item) => (JSON.parse(item) as { MESSAGE: unknown }).MESSAGE)

/** A source of it; each `poll` goes on at the cursor of the one before. */
function source({ folder }: Journal, more: Record<string, unknown> = {}, allowed = folder) {
  const config = validateConfig('journald', { directory: folder, ...more })
  const out = { ...reach(), env: { SVC_JOURNAL: allowed, PATH: process.env.PATH } }
  let cursor: string | null = null
  const poll = async (at = cursor) => {
    const polled = await journald.poll(config, at, out)
    cursor = polled.cursor
    return polled
  }
  return { config, out, poll, at: () => cursor }
}

describe.skipIf(!hasJournal)('entries of a journal', () => {
  it('are read from when the source is made on, each once, also from a cursor that was used before', async () => {
    const journal = makeJournal()
    journal.add([line('before')])
    const { poll, at } = source(journal)
    expect(messages(await poll())).toEqual([])
    journal.add([line('one'), line('two')])
    const before = at()
    const polled = await poll()
    expect(messages(polled)).toEqual(['one', 'two'])
    expect(polled).not.toHaveProperty('notice')
    expect(messages(await poll())).toEqual([])
    journal.add([line('three')])
    expect(messages(await poll())).toEqual(['three'])
    // What was not stored, as where the daemon was killed, is read again, under the same keys.
    const again = await poll(before)
    expect(messages(again)).toEqual(['one', 'two', 'three'])
    const keys = (one: typeof polled) => mapped(journald, {}, one).map(({ dedupeKey }) => dedupeKey)
    expect(keys(again).slice(0, 2)).toEqual(keys(polled))
    expect(new Set(keys(again)).size).toBe(3)
  })

  it('of a journal that was empty when the source was made are read from the first on', async () => {
    const journal = makeJournal()
    const { poll } = source(journal)
    expect((await poll()).items).toEqual([])
    journal.add([line('first')])
    expect(messages(await poll())).toEqual(['first'])
  })

  it('are read from the start where that is asked for, in many polls where there are many', async () => {
    const journal = makeJournal()
    const all = Array.from({ length: 5_003 }, (_, i) => `entry ${i}`)
    journal.add(all.map((text) => line(text)))
    const { poll } = source(journal, { from_start: true })
    const first = await poll()
    expect(first).toMatchObject({ more: true })
    const second = await poll()
    expect(second).not.toHaveProperty('more')
    expect([...messages(first), ...messages(second)]).toEqual(all)
  })

  it('go on over a rotation, and where some were cleared away before they were read a notice says so', async () => {
    const journal = makeJournal()
    journal.add([line('old')])
    const { poll } = source(journal, { from_start: true })
    await poll()
    journal.add([line('new')], 'next')
    const over = await poll()
    expect(messages(over)).toEqual(['new'])
    expect(over).not.toHaveProperty('notice')
    journal.add([line('never read')], 'next')
    journal.clear('next')
    journal.add([line('later')], 'last')
    const polled = await poll()
    expect(messages(polled)).toEqual(['later'])
    expect(polled.notice).toBe(
      'The journal no longer has the entry where the last poll ended: some from before 2026-11-20T12:00:03.000Z may be missing.',
    )
    expect(await poll()).not.toHaveProperty('notice')
  })

  it('are those of some units, programs and priorities, and match and drop look at the message', async () => {
    const journal = makeJournal()
    journal.add([
      line('a', { _SYSTEMD_UNIT: 'nginx.service', SYSLOG_IDENTIFIER: 'nginx', PRIORITY: '3' }),
      line('b', { _SYSTEMD_UNIT: 'app@1.service', SYSLOG_IDENTIFIER: 'app', PRIORITY: '6' }),
      line('c', { SYSLOG_IDENTIFIER: 'kernel', PRIORITY: '4' }),
    ])
    const read = async (more: Record<string, unknown>) =>
      messages(await source(journal, { from_start: true, ...more }).poll())
    expect(await read({ units: ['nginx.service', 'app@*.service'] })).toEqual(['a', 'b'])
    expect(await read({ identifiers: ['kernel'] })).toEqual(['c'])
    expect(await read({ priority: 'warning' })).toEqual(['a', 'c'])
    expect(await read({ match: 'A|c', drop: 'c' })).toEqual(['a'])
    // What looks like an option is a value.
    expect(await read({ identifiers: ['--file=/etc/passwd'] })).toEqual([])
  })

  it('of more than is held are read by their usual fields, and what follows is read whole', async () => {
    const journal = makeJournal()
    journal.add([
      line('before'),
      line('dumped core', { COREDUMP: 'x'.repeat(2 * 1024 * 1024) }),
      line('a long message '.repeat(1_000)),
    ])
    const { poll } = source(journal, { from_start: true })
    const first = await poll()
    expect(messages(first)).toEqual(['before', 'dumped core'])
    expect(JSON.parse(first.items[1]!)).toMatchObject({ _HOSTNAME: 'db-1' })
    expect(first.items[1]!.length).toBeLessThan(1_000)
    expect(first).toMatchObject({
      more: true,
      notice: 'Of an entry of more than 1 MiB only the usual fields were read.',
    })
    expect(messages(await poll())).toEqual(['a long message '.repeat(1_000)])
  })

  it('are looked at by discover, which proposes a config that is valid', async () => {
    const journal = makeJournal()
    journal.add([
      line('a', { _SYSTEMD_UNIT: 'nginx.service', SYSLOG_IDENTIFIER: 'nginx', ORDER: '7' }),
      line('b', { _SYSTEMD_UNIT: 'nginx.service', SYSLOG_IDENTIFIER: 'nginx' }),
      line('c', { SYSLOG_IDENTIFIER: 'kernel' }),
    ])
    const { config, out } = source(journal)
    const found = await journald.discover!(config, out)
    expect(found).toMatchObject({
      summary: '2 services on db-1 in the last 3 entries',
      services: [
        { name: 'nginx', entries: 2 },
        { name: 'kernel', entries: 1 },
      ],
      units: ['nginx.service'],
      fields: expect.arrayContaining([{ name: 'ORDER', coverage: 1 / 3 }]),
      sample: ['nginx: a', 'nginx: b', 'kernel: c'],
    })
    expect(() => validateConfig('journald', found.proposed_config as Record<string, unknown>)).not.toThrow()
  })
})

describe.skipIf(!hasJournal)('the journal', () => {
  it('may be read where the operator says so alone', async () => {
    const journal = makeJournal()
    const fault = (more: Record<string, unknown>, allowed: string) => source(journal, more, allowed).poll()
    await expect(fault({}, '')).rejects.toThrow(/^SVC_JOURNAL is not set/)
    await expect(fault({}, 'on')).rejects.toThrow(/is no folder that SVC_JOURNAL names \(on\)/)
    await expect(fault({}, '/srv/journals')).rejects.toThrow(/is no folder that SVC_JOURNAL names/)
    await expect(fault({ directory: undefined }, journal.folder)).rejects.toThrow(
      'SVC_JOURNAL does not allow the journal of the machine (on). Name one of its folders as directory.',
    )
    await expect(fault({}, `on, ${journal.folder}`)).resolves.toBeDefined()
  })

  it('that is not there, or whose program is not, is told in a sentence', async () => {
    const journal = makeJournal()
    const { config, out } = source(journal)
    rmSync(journal.folder, { recursive: true })
    await expect(journald.poll(config, null, out)).rejects.toThrow(/^journalctl says: Failed to open/)
    await expect(
      journald.poll(config, null, { ...out, env: { ...out.env, PATH: '/nowhere' } }),
    ).rejects.toThrow('There is no journalctl where svc runs: the machine has no systemd, or PATH lacks it.')
  })

  it('that never answers is left at the end of the time of a poll, and its program ends', async () => {
    const journal = makeJournal()
    const { config, out } = source(journal)
    const folder = mkdtempSync(join(tmpdir(), 'svc-journalctl-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const pid = join(folder, 'pid')
    writeFileSync(
      join(folder, 'journalctl'),
      `#!/bin/sh\necho $$ > ${pid}.new && mv ${pid}.new ${pid}\nexec sleep 600\n`,
    )
    chmodSync(join(folder, 'journalctl'), 0o755)
    const cut = new AbortController()
    const env = { ...out.env, PATH: `${folder}${delimiter}${process.env.PATH}` }
    const polled = journald.poll(config, null, { ...out, env, signal: cut.signal })
    await expect.poll(() => existsSync(pid)).toBe(true)
    cut.abort()
    await expect(polled).rejects.toThrow('journalctl gave no answer in the time of a poll.')
    await expect
      .poll(() => {
        try {
          return process.kill(Number(readFileSync(pid, 'utf8')), 0)
        } catch {
          return false
        }
      })
      .toBe(false)
  })
})

describe.skipIf(!hasJournal)('an entry', () => {
  const events = async (entry: Parameters<Journal['add']>[0][number], more: Record<string, unknown> = {}) => {
    const journal = makeJournal()
    journal.add([entry])
    const { poll, config } = source(journal, { from_start: true, ...more })
    const polled = await poll()
    return { event: mapped(journald, config, polled)[0]!, stored: prepared(journald, config, polled)[0]! }
  }

  it('has its program in front, its own time, labels of what it says, and its service as entity', async () => {
    const { event, stored } = await events(
      line('could not write block', {
        ...{ _SYSTEMD_UNIT: 'postgresql.service', SYSLOG_IDENTIFIER: 'postgres', PRIORITY: '3', _PID: '12' },
        _SOURCE_REALTIME_TIMESTAMP: '1795175999000000',
      }),
      { labels: [{ name: 'pid', field: '_PID' }] },
    )
    expect(event).toMatchObject({
      ...{ eventType: 'log', text: 'postgres: could not write block', entityLabel: 'service' },
      stamped: {
        ...{ service: 'postgresql', unit: 'postgresql.service', host: 'db-1', app: 'postgres' },
        ...{ severity: 'err', level: 'ERROR' },
      },
    })
    expect(stored).toMatchObject({ ts: Date.UTC(2026, 10, 20, 11, 59, 59), hasEntity: true })
    expect(stored.strings).toContainEqual(['pid', '12'])
  })

  it('without a time of its own has that of the journal, and one of no service its program as entity', async () => {
    const { event, stored } = await events(line('oom', { SYSLOG_IDENTIFIER: 'kernel', PRIORITY: '2' }))
    expect(stored.ts).toBe(Date.UTC(2026, 10, 20, 12))
    expect(event.stamped).toEqual({
      ...{ service: 'kernel', host: 'db-1', app: 'kernel', severity: 'crit', level: 'FATAL' },
    })
  })

  it('of bytes is read as text: with colours, several lines, and what is no UTF-8', async () => {
    const { event } = await events(line('\u001b[31mfailed\u001b[0m\n  at main', { SYSLOG_IDENTIFIER: 'app' }))
    expect(event.text).toBe('app: failed   at main')
    expect(event.context.message).toBe('failed\n  at main')
    const latin = await events(line(Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x00, 0x21])))
    expect(latin.event.context.message).toBe('caf\ufffd\u0000!')
  })

  it('with a field several times is read by the first, and a JSON message by its fields', async () => {
    const { stored } = await events(
      line('{"msg":"paid","order":7,"level":"error"}', {
        TAG: ['a', 'b'],
        PRIORITY: '6',
        _TRANSPORT: 'stdout',
      }),
      {
        labels: [
          { name: 'tag', field: 'TAG' },
          { name: 'order', field: 'json.order' },
        ],
      },
    )
    expect(stored.text).toBe('paid')
    expect(stored.strings).toEqual(
      expect.arrayContaining([
        ['tag', 'a'],
        ['order', '7'],
        ['level', 'ERROR'],
      ]),
    )
  })

  it.each([
    ['what systemd says of it', { _PID: '1', UNIT: 'a.service', _SYSTEMD_UNIT: 'init.scope' }, 'a'],
    ['a core dump of it', { _UID: '0', COREDUMP_UNIT: 'a.service', _SYSTEMD_UNIT: 'b.service' }, 'a'],
    ['a unit of a user', { _SYSTEMD_USER_UNIT: 'a.service', _SYSTEMD_UNIT: 'user@1.service' }, 'a'],
    ['what another claims', { _PID: '9', _UID: '1', UNIT: 'b.service', _SYSTEMD_UNIT: 'a.service' }, 'a'],
    ['a session', { _SYSTEMD_UNIT: 'session-3.scope', SYSLOG_IDENTIFIER: 'sshd' }, 'sshd'],
  ])('is of its unit: %s', async (_what, fields, service) => {
    const { event } = await events(line('m', fields))
    expect(event.stamped!.service).toBe(service)
  })

  it.each([
    ['stdout', '6', 'ERROR it broke', 'ERROR'],
    ['stdout', '4', 'ERROR it broke', 'WARN'],
    ['syslog', '6', 'ERROR it broke', 'INFO'],
    ['stdout', '6', 'it works', 'INFO'],
  ])('over %s of priority %s that says %s has the level %s', async (_TRANSPORT, PRIORITY, text, level) => {
    const { event } = await events(line(text, { _TRANSPORT, PRIORITY }))
    expect(event.stamped!.level).toBe(level)
  })
})
