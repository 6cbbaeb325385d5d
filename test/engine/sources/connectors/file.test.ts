import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { parseEventTime } from '../../../../engine/log/ingest/time.ts'
import { file } from '../../../../engine/sources/connectors/file.ts'
import { fileSource } from './reach.ts'

let folder: string
let log: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-files-'))
  log = join(folder, 'app.log')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const source = (more: Record<string, unknown> = {}, files = folder) =>
  fileSource({ path: log, ...more }, files)

describe('lines of a file', () => {
  it('are read from when the source is made on, whole ones alone, each once', async () => {
    writeFileSync(log, 'before\n')
    const { poll } = source()
    expect((await poll()).lines).toEqual([])
    appendFileSync(log, 'one\ntwo\nthr')
    expect((await poll()).lines).toEqual(['one', 'two'])
    expect((await poll()).lines).toEqual([])
    appendFileSync(log, 'ee\r\n\n')
    expect((await poll()).lines).toEqual(['three'])
  })

  it('are read from the start where that is asked for', async () => {
    writeFileSync(log, 'a\nb\n')
    expect((await source({ from_start: true }).poll()).lines).toEqual(['a', 'b'])
  })

  it('of a file that a rotation renamed come before those of the new one, also what it had without a line end', async () => {
    writeFileSync(log, '')
    const { poll } = source()
    await poll()
    appendFileSync(log, 'old 1\n')
    await poll()
    appendFileSync(log, 'old 2\nold 3')
    renameSync(log, join(folder, 'app.log.1'))
    // For a moment there is none: that is no fault of a source that is at work.
    const between = await poll()
    expect(between).toMatchObject({ lines: [], notice: `${log} does not exist.` })
    writeFileSync(log, 'new 1\n')
    expect((await poll()).lines).toEqual(['old 2', 'old 3', 'new 1'])
    expect((await poll()).lines).toEqual([])
  })

  it('of all that rotations renamed since the last poll come, the oldest first, and of nothing else', async () => {
    writeFileSync(log, '')
    writeFileSync(join(folder, 'app.log.7'), 'older than all\n')
    writeFileSync(join(folder, 'app.log.bak'), 'no rotation of it\n')
    utimesSync(join(folder, 'app.log.7'), 1_000, 1_000)
    const { poll } = source()
    await poll()
    for (const [n, name] of ['app.log.3', 'app.log.2', 'app.log.1'].entries()) {
      appendFileSync(log, `rest ${n}\n`)
      utimesSync(log, 2_000 + n, 2_000 + n)
      renameSync(log, join(folder, name))
      writeFileSync(log, '')
    }
    appendFileSync(log, 'new\n')
    expect((await poll()).lines).toEqual(['rest 0', 'rest 1', 'rest 2', 'new'])
    expect((await poll()).lines).toEqual([])
  })

  it('of a file that was cut and written anew are read from its start, however long it has become', async () => {
    writeFileSync(log, 'first line\nsecond line\n')
    const { poll } = source({ from_start: true })
    await poll()
    truncateSync(log)
    appendFileSync(log, 'after the cut, and longer than what was read before\n')
    expect(await poll()).toMatchObject({
      lines: ['after the cut, and longer than what was read before'],
      notice: expect.stringContaining(`${log} was cut and written anew: it is read from its start.`),
    })
  })

  it('of a file that was cut are other lines than those before it, though they say the same at the same place', async () => {
    writeFileSync(log, '')
    const { poll, at } = source()
    await poll()
    const keys: unknown[] = []
    for (let start = 0; start < 3; start++) {
      appendFileSync(log, 'listening on port 3000\n')
      const cursor = at()
      const [event] = (await poll()).events
      keys.push(event!.dedupeKey)
      // What a crash repeats has its key.
      expect((await poll(cursor)).events.map(({ dedupeKey }) => dedupeKey)).toEqual([event!.dedupeKey])
      // The clock of files moves on in steps of some milliseconds.
      for (let info = statSync(log); info.ctimeMs === info.birthtimeMs; info = statSync(log))
        utimesSync(log, 0, 0)
      if (start === 1) rmSync(log)
      else truncateSync(log)
      await poll()
    }
    expect(new Set(keys).size).toBe(3)
  })

  it('of a link that leads to another file now come behind the rest of the one before', async () => {
    const link = join(folder, 'current')
    writeFileSync(join(folder, 'app-20261119.log'), '')
    symlinkSync('app-20261119.log', link)
    const { poll } = source({ path: link })
    await poll()
    appendFileSync(join(folder, 'app-20261119.log'), 'last of the day\n')
    writeFileSync(join(folder, 'app-20261120.log'), 'first of the day\n')
    rmSync(link)
    symlinkSync('app-20261120.log', link)
    const { lines, notice } = await poll()
    expect([lines, notice]).toEqual([
      ['last of the day', 'first of the day'],
      expect.not.stringContaining('was not found'),
    ])
  })

  it('that continue make one event of 256 KiB at most', async () => {
    writeFileSync(log, `begin\n${` ${'x'.repeat(60_000)}\n`.repeat(10)}`)
    const { poll } = source({ continues: '^\\s', from_start: true })
    const [first, second] = [await poll(), await poll()]
    const sizes = [...first.lines, ...second.lines].map((line) => line.length)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(262_144)
    expect(sizes.reduce((sum, size) => sum + size)).toBeGreaterThan(600_000)
  })

  it('have the same keys where a poll is done again, and other keys in another place', async () => {
    writeFileSync(log, '')
    const { poll, at } = source()
    await poll()
    const cursor = at()
    appendFileSync(log, 'same\nsame\n')
    const keys = (await poll(cursor)).events.map(({ dedupeKey }) => dedupeKey)
    expect(new Set(keys).size).toBe(2)
    expect((await poll(cursor)).events.map(({ dedupeKey }) => dedupeKey)).toEqual(keys)
  })

  it('of a stack trace are one event, also where a poll falls into it', async () => {
    writeFileSync(log, '')
    const { poll } = source({ continues: '^\\s+at\\s' })
    await poll()
    appendFileSync(log, 'fine\nError: no route\n    at a (a.js:1)\n')
    expect((await poll()).lines).toEqual(['fine'])
    appendFileSync(log, '    at b (b.js:2)\n')
    expect((await poll()).lines).toEqual([])
    expect((await poll()).lines).toEqual(['Error: no route\n    at a (a.js:1)\n    at b (b.js:2)'])
  })

  it('say their time, level and fields as they do', async () => {
    writeFileSync(
      log,
      `${[
        '2026-11-20 11:59:00,123 ERROR pool exhausted',
        '[2026-11-20T11:59:01Z] "GET /pay HTTP/1.1" 502',
        '{"ts":"2026-11-20T11:59:02Z","level":"warn","msg":"slow","order":{"id":"ORD-7"}}',
        '2026-11-20 03:59:03 PST [12] LOG: checkpoint',
        '2026-11-20 11:59:04.5 CET [12] LOG: its zone is not known',
        '2026-11-20 11:59:05 AM WARN slow',
        '2026-11-20 12:59:06 +0100 INFO fine',
        '2026-11-20 11:59:07 POST /pay',
        'no time',
      ].join('\n')}\n`,
    )
    const { events } = await source({ from_start: true, label_pattern: '(?P<pool>pool)' }).poll()
    expect(events.map(({ eventTime, text }) => [eventTime, text])).toEqual([
      ['2026-11-20 11:59:00.123', '2026-11-20 11:59:00,123 ERROR pool exhausted'],
      ['2026-11-20T11:59:01Z', '[2026-11-20T11:59:01Z] "GET /pay HTTP/1.1" 502'],
      ['2026-11-20T11:59:02Z', 'slow'],
      ['2026-11-20 03:59:03 PST', expect.any(String)],
      ['2026-11-20 11:59:04.5 CET', expect.any(String)],
      ['2026-11-20 11:59:05 AM', expect.any(String)],
      ['2026-11-20 12:59:06 +0100', expect.any(String)],
      ['2026-11-20 11:59:07', expect.any(String)],
      [undefined, 'no time'],
    ])
    expect(events[0]).toMatchObject({
      context: { level: 'ERROR', pool: 'pool', file: 'app.log' },
      stamped: { file: 'app.log' },
    })
    expect(events[1]!.context).toMatchObject({ http_method: 'GET', http_status: 502 })
    expect(events[2]!.context).toMatchObject({ order: { id: 'ORD-7' }, line: { level: 'warn' } })
  })

  /** Of nginx, Apache, rsyslog, MySQL and MongoDB, in the forms of their documentation. */
  it.each([
    ['2026/11/20 10:50:18 [error] 12#12: *1 connect() failed', '10:50:18.000', 'ERROR'],
    ['[Fri Nov 20 10:50:18.123456 2026] [core:error] [pid 7] AH00037: link', '10:50:18.123', 'ERROR'],
    ['Nov 20 10:50:18 web1 pay[12]: started', '10:50:18.000', undefined],
    ['192.0.2.1 - an [20/Nov/2026:11:50:18 +0100] "GET /a HTTP/1.1" 502 1', '10:50:18.000', undefined],
    ['2026-11-20T10:50:18.123456Z 0 [Warning] [MY-010068] [Server] no CA', '10:50:18.123', 'WARN'],
    ['2026-11-20T10:50:18.123456Z 0 [Note] [MY-010051] [Server] up', '10:50:18.123', 'NOTICE'],
    ['{"t":{"$date":"2026-11-20T10:50:18.123+00:00"},"s":"I","msg":"up"}', '10:50:18.123', 'INFO'],
    ['{"t":{"$date":"2026-11-20T10:50:18.123+00:00"},"s":"D2","msg":"up"}', '10:50:18.123', 'DEBUG'],
    ['{"t":{"$date":"2026-11-20T10:50:18.123+00:00"},"s":"X","msg":"up"}', '10:50:18.123', undefined],
    ['{"time":"2026-11-20T10:50:18.123Z","s":"E","msg":"of another program"}', '10:50:18.123', undefined],
  ])('of servers say their time and level: %s', async (line, clock, level) => {
    inZone('UTC')
    writeFileSync(log, `${line}\n`)
    const { events, notice } = await source({ from_start: true }).poll()
    const { ts } = parseEventTime(events[0]!.eventTime, Date.parse('2026-11-20T12:00:00Z'))
    expect([new Date(ts ?? 0).toISOString(), events[0]!.context.level]).toEqual([
      `2026-11-20T${clock}Z`,
      level,
    ])
    expect(notice).toBeUndefined()
  })

  it.each([
    ['2026/11/20 10:50:18 [error] 12#12: *1 connect() failed', '2026-11-20T09:50:18.000Z'],
    ['[Mon Jul 20 10:50:18.123456 2026] [core:error] [pid 7] AH00037: link', '2026-07-20T08:50:18.123Z'],
    ['Nov 20 10:50:18 web1 pay[12]: started', '2026-11-20T09:50:18.000Z'],
    ['2026-11-20 10:50:18 an ISO time', '2026-11-20T10:50:18.000Z'],
  ])('of servers are of the zone of the machine, in which these write: %s', async (line, time) => {
    inZone('Europe/Berlin')
    writeFileSync(log, `${line}\n`)
    const { events } = await source({ from_start: true }).poll()
    const { ts } = parseEventTime(events[0]!.eventTime, Date.parse('2026-11-20T12:00:00Z'))
    expect(new Date(ts ?? 0).toISOString()).toBe(time)
  })

  it.each([
    ['2026-11-20 10:50:18,123 INFO of log4j and Python', '2026-11-20T09:50:18.123Z'],
    ['{"timestamp":"2026-07-20 10:50:18,123","msg":"summer"}', '2026-07-20T08:50:18.123Z'],
    ['{"timestamp":"2026-11-20T10:50:18Z","msg":"it says its zone"}', '2026-11-20T10:50:18.000Z'],
    ['2026-11-20 10:50:18 -0500 it says its zone', '2026-11-20T15:50:18.000Z'],
    ['2026-11-20 10:50:18 UTC it says its zone', '2026-11-20T10:50:18.000Z'],
    ['2026/11/20 10:50:18 [error] 12#12: of nginx', '2026-11-20T09:50:18.000Z'],
    ['Nov 20 10:50:18 web1 pay[12]: of syslog', '2026-11-20T09:50:18.000Z'],
    ['{"ts":1763632218,"msg":"a number has none"}', '2025-11-20T09:50:18.000Z'],
  ])('that say no zone are of the one that is set: %s', async (line, time) => {
    inZone('America/New_York')
    writeFileSync(log, `${line}\n`)
    const { events } = await source({ from_start: true, zone: 'Europe/Berlin' }).poll()
    const { ts } = parseEventTime(events[0]!.eventTime, Date.parse('2026-11-20T16:00:00Z'))
    expect(new Date(ts ?? 0).toISOString()).toBe(time)
  })

  it('that have no time are told of in the notice, until there are some that have one', async () => {
    writeFileSync(log, 'a\nb\n')
    writeFileSync(join(folder, 'b.log'), 'c\n')
    const { poll } = source({ path: join(folder, '*.log'), from_start: true })
    const notice = (files: string) =>
      `The newest lines of ${files} begin with no time that is understood: they have the time of their arrival.`
    expect((await poll()).notice).toBe(notice(`${log} and 1 other file`))
    expect((await poll()).notice).toBe(notice(`${log} and 1 other file`))
    appendFileSync(join(folder, 'b.log'), 'd\n2026-11-20 12:00:00 e\n')
    expect((await poll()).notice).toBe(notice(log))
    appendFileSync(log, '2026-11-20 12:00:00 f\n')
    expect((await poll()).notice).toBeUndefined()
  })

  it('of many files of one form are read, those that come later from their start', async () => {
    writeFileSync(join(folder, 'a.log'), 'a\n')
    writeFileSync(join(folder, 'c.txt'), 'c\n')
    const { poll } = source({ path: join(folder, '*.log') })
    expect((await poll()).lines).toEqual([])
    appendFileSync(join(folder, 'a.log'), 'a2\n')
    writeFileSync(join(folder, 'b.log'), 'b\n')
    const { events } = await poll()
    expect(events.map(({ context }) => [context.file, context.raw])).toEqual([
      ['a.log', 'a2'],
      ['b.log', 'b'],
    ])
  })

  it('of more than a poll takes come with the next, without a gap', async () => {
    const all = Array.from({ length: 5_000 }, (_, n) => `line ${n} ${'x'.repeat(1_000)}`)
    writeFileSync(log, `${all.join('\n')}\n`)
    const { poll } = source({ from_start: true })
    const first = await poll()
    expect(first.more).toBe(true)
    const second = await poll()
    expect(second.more).toBeUndefined()
    expect([...first.lines, ...second.lines]).toEqual(all)
  })
})

/** Until the end of the test. */
function inZone(name: string): void {
  const before = process.env.TZ
  process.env.TZ = name
  onTestFinished(() => {
    if (before === undefined) delete process.env.TZ
    else process.env.TZ = before
  })
}

/** Runs as a user whom permissions bind; root reads whatever they say. */
async function asNobody<T>(work: () => Promise<T>): Promise<T> {
  if (process.geteuid!() !== 0) return work()
  process.seteuid!(65_534)
  try {
    return await work()
  } finally {
    process.seteuid!(0)
  }
}

describe('a file that cannot be read any more', () => {
  // A command that another test ran in this process may have narrowed what files are made with.
  let umask: number
  beforeEach(() => {
    umask = process.umask(0o022)
  })
  afterEach(() => {
    process.umask(umask)
  })

  it('is an error that names it and who may not, and what it gained meanwhile is read once it can be', async () => {
    chmodSync(folder, 0o755)
    writeFileSync(log, 'a\n', { mode: 0o644 })
    const { poll } = source({ from_start: true })
    expect((await asNobody(poll)).lines).toEqual(['a'])
    chmodSync(log, 0)
    appendFileSync(log, '2026-11-20T12:00:00Z b\n')
    await expect(asNobody(poll)).rejects.toMatchObject({
      message: `${log} may not be read by the user that the daemon runs as: give that user the right to read it and to pass its folders.`,
      // An upstream that fails is left alone for up to an hour; a file is looked at again soon.
      retryAfterMs: 30_000,
    })
    chmodSync(log, 0o644)
    const again = await asNobody(poll)
    expect([again.lines, again.notice]).toEqual([['2026-11-20T12:00:00Z b'], undefined])
  })

  it('is an error whatever the reason, but for one that a rotation took away', async () => {
    writeFileSync(log, '')
    const { poll } = source()
    await poll()
    rmSync(log)
    expect((await poll()).notice).toBe(`${log} does not exist.`)
    mkdirSync(log)
    await expect(poll()).rejects.toThrow(`${log} is no file.`)
    rmSync(log, { recursive: true })
    symlinkSync(log, log)
    await expect(poll()).rejects.toThrow(`${log} cannot be read: `)
  })

  it('is named by its new name where a rotation gave it one', async () => {
    chmodSync(folder, 0o755)
    writeFileSync(log, 'a\n', { mode: 0o644 })
    const { poll } = source({ from_start: true })
    await asNobody(poll)
    renameSync(log, join(folder, 'app.log.1'))
    chmodSync(join(folder, 'app.log.1'), 0)
    writeFileSync(log, 'b\n', { mode: 0o644 })
    await expect(asNobody(poll)).rejects.toThrow(`${join(folder, 'app.log.1')} may not be read`)
  })

  it('is a notice where others of its form can be read, and an error where none can', async () => {
    chmodSync(folder, 0o755)
    const [a, b] = ['a.log', 'b.log'].map((name) => join(folder, name)) as [string, string]
    for (const path of [a, b]) writeFileSync(path, `${path}\n`, { mode: 0o644 })
    const { poll } = source({ path: join(folder, '*.log'), from_start: true })
    chmodSync(a, 0)
    expect(await asNobody(poll)).toMatchObject({
      lines: [b],
      notice: expect.stringContaining(`${a} may not be read`),
    })
    chmodSync(b, 0)
    await expect(asNobody(poll)).rejects.toThrow(
      new RegExp(`^${a} may not be read .* Nor can 1 more of ${folder}/\\*\\.log\\.$`),
    )
  })
})

describe('which files may be read', () => {
  it('is the operator\u2019s to say: only those below SVC_FILES, links followed', async () => {
    const inside = join(folder, 'logs')
    mkdirSync(inside)
    writeFileSync(join(folder, 'secret.txt'), 'no\n')
    writeFileSync(join(inside, 'a.log'), '2026-11-20T12:00:00Z yes\n')
    symlinkSync(join(folder, 'secret.txt'), join(inside, 'b.log'))
    const fault = (path: string, files = inside) =>
      source({ path, from_start: true }, files)
        .poll()
        .then(
          ({ notice }) => notice ?? '',
          (error: Error) => error.message,
        )
    expect(await fault(join(inside, 'a.log'))).toBe('')
    expect(await fault(join(inside, 'a.log'), '')).toMatch(/^SVC_FILES is not set/)
    expect(await fault(join(folder, 'secret.txt'))).toMatch(/is not below a folder that SVC_FILES names/)
    expect(await fault(join(inside, 'b.log'))).toMatch(/is not below a folder/)
    expect(await fault(join(inside, '*.log'))).toMatch(/b\.log is not below a folder/)
    expect(await fault(join(folder, '*'))).toMatch(/is not below a folder/)
    const looked = file.discover!({ path: join(folder, 's*') }, source({}, inside).out)
    await expect(looked).rejects.toThrow(/^(?!.*secret\.txt).*is not below a folder/)
    expect(await fault(`${inside}-other/x.log`)).toMatch(/does not exist/)
    expect(await fault(inside)).toMatch(/is no file/)
  })

  it('has a whole path, with a star in its last part alone', () => {
    expect(file.validate!({ path: '/var/*/app.log' })).toEqual([
      expect.stringContaining('in its last part alone'),
    ])
    expect(file.validate!({ path: '/var/log/../x' })).toEqual(['path must have no . or .. in it'])
    expect(file.validate!({ path: '/var/log/x', zone: 'CEST' })).toEqual([
      'zone must be the name of a time zone, such as Europe/Berlin or UTC',
    ])
    expect(file.validate!({ path: '/var/log/app-*.log', continues: '(' })).toEqual([
      expect.stringMatching(/^continues: /),
    ])
  })
})

describe('discovery of files', () => {
  it('lists those that may be read, then proposes from the lines of one', async () => {
    writeFileSync(log, '{"level":"warn","msg":"slow"}\n    at a (a.js:1)\n')
    const { out } = source()
    expect(await file.discover!({}, out)).toMatchObject({ files: [log] })
    expect(await file.discover!({ path: log }, out)).toMatchObject({
      summary: '2 lines at the end of app.log',
      fields: expect.arrayContaining([{ name: 'msg', coverage: 0.5 }]),
      proposed_config: { path: log, continues: '^\\s+at\\s' },
    })
  })

  it('says which folders it cannot look into, and fails where that is all of them', async () => {
    const gone = join(folder, 'gone')
    expect(await file.discover!({}, source({}, `${folder},${gone}`).out)).toMatchObject({
      files: [],
      summary: `0 files; name one, or a pattern, and discover again. ${gone} does not exist`,
    })
    await expect(file.discover!({}, source({}, gone).out)).rejects.toThrow(`${gone} does not exist.`)
  })
})
