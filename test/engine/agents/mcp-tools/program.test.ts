/** Programs of this machine as MCP servers: real ones, by the official server classes (test/mcp/program.mjs). */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { McpServerRef } from '../../../../engine/agents/mcp-client.ts'
import { createRests } from '../../../../engine/agents/mcp-connection.ts'
import { ProgramTransport } from '../../../../engine/agents/mcp-program.ts'
import type { Models } from '../../../../engine/agents/models/types.ts'
import { connector, startRunner } from '../../../../engine/agents/runs/runner.ts'
import type { RunPort, StartedRun } from '../../../../engine/agents/runs/types.ts'
import { eventually } from '../../../eventually.ts'
import { manualTime } from '../../net/egress/manual-time.ts'
import { noApps } from '../../net/no-apps.ts'
import { connected, connecting } from './setup.ts'

const FILE = fileURLToPath(new URL('../../../mcp/program.mjs', import.meta.url))

const program = (args: string[], more: Partial<McpServerRef> = {}): McpServerRef => ({
  name: 'beans',
  url: 'stdio:beans',
  headers: {},
  program: { words: [process.execPath, FILE, ...args], env: { TOKEN: 'secret-of-beans', LEVEL: 'warn' } },
  secrets: ['secret-of-beans'],
  ...more,
})

/** Whether a process runs: one that ended and that nobody asked how is none. */
function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0)
    const stat = `/proc/${pid}/stat`
    return !existsSync(stat) || !/^\d+ \(.*\) [ZX]/.test(readFileSync(stat, 'utf8'))
  } catch {
    return false
  }
}

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)

/** Whether it has ended with all of its threads, the last of which closes its files. */
const isOver = (pid: number): boolean => !isThere(pid) && readdirSync(`/proc/${pid}/task`).length === 1

/** Waits for the end of a process that nobody here is told of. */
const gone = (pid: number) => eventually(() => expect(isThere(pid)).toBe(false))

describe('a program', () => {
  it.each(['legacy', 'modern'])('of a %s revision is listed and called', async (revision) => {
    const { tools, skipped, call } = await connected([program([revision])])
    expect(skipped).toEqual([])
    expect(tools.map(({ name }) => name)).toContain('beans__started')
    expect(JSON.parse((await call('beans__started', {})).text)).toMatchObject({
      cwd: '/',
      args: [revision],
    })
  })

  it('that says nothing before it is begun with, as older ones do, is begun with all the same', async () => {
    const { external, time } = connecting([program(['deaf'])])
    onTestFinished(async () => (await external).close())
    await eventually(() => expect(time.waits()).toContain(12_000))
    time.advance(12_000)
    const { tools, skipped, call } = await external
    expect(skipped).toEqual([])
    expect(tools.map(({ tool }) => tool)).toContain('env')
    expect(await call('beans__noise', {})).toMatchObject({ text: 'said', isError: false })
  })

  it('finds in its environment what was declared, and nothing of the daemon', async () => {
    const { call } = await connected([program(['modern'])])
    expect(process.env.PATH).toBeTruthy()
    expect(JSON.parse((await call('beans__env', {})).text)).toEqual({ TOKEN: '***', LEVEL: 'warn' })
  })

  it('may write lines that are none of MCP, and no answer without a bound', async () => {
    const { call, relist } = await connected([program(['modern'])])
    expect(await call('beans__noise', {})).toMatchObject({ text: 'said', isError: false })
    // Nor an end of one before an answer.
    expect(await call('beans__bar', {})).toMatchObject({ text: 'said', isError: false })
    // One that tells that its list is another is listed again.
    await call('beans__grow', {})
    expect((await relist()).get('beans')?.map(({ name }) => name)).toContain('beans__grown')
    expect(await call('beans__grown', {})).toMatchObject({ text: 'grown' })
    expect(await call('beans__huge', {})).toMatchObject({
      text: 'beans__huge was not answered: its program sent a message of more than 8 MB',
      isError: true,
    })
  })

  it('ends with the run, and so does what it started', async () => {
    const { call, close } = await connected([program(['modern'])])
    const { pid } = JSON.parse((await call('beans__started', {})).text) as { pid: number }
    const child = Number((await call('beans__child', {})).text)
    expect([isThere(pid), isThere(child)]).toEqual([true, true])
    await close()
    await gone(pid)
    await gone(child)
  })

  it('is told to end, then killed, where it does not end by itself', async () => {
    const { call, close, time } = await connected([program(['modern', 'stubborn'])])
    const { pid } = JSON.parse((await call('beans__started', {})).text) as { pid: number }
    const closing = close()
    expect(time.waits()).toEqual([1_000])
    time.advance(1_000)
    await eventually(() => expect(time.waits()).toEqual([1_000]))
    expect(isThere(pid)).toBe(true)
    time.advance(1_000)
    await closing
    await gone(pid)
  })

  it('that ends is said so without its secret, and started again by the next call, later each time', async () => {
    const { call, time } = await connected([program(['modern'])])
    const dies = async () =>
      expect((await call('beans__die', {})).text).toMatch(/^beans__die was not answered: /)
    const { text } = await call('beans__die', {})
    expect(text).toBe('beans__die was not answered: its program ended with status 3: out of beans: ***')
    for (const ms of [1_000, 2_000, 4_000]) {
      const said = call('beans__started', {})
      await eventually(() => expect(time.waits()).toContain(ms))
      time.advance(ms)
      expect(JSON.parse((await said).text)).toMatchObject({ args: ['modern'] })
      await dies()
    }
    expect((await call('beans__started', {})).text).toContain(
      'it was started 4 times and is not again in this run',
    )
  })

  it('that does not start leaves its server out, with what it said last', async () => {
    const reasons = async (server: McpServerRef) => (await connected([server])).skipped
    expect(await reasons(program(['broken']))).toEqual([
      { server: 'beans', reason: 'its program ended with status 2: no such folder' },
    ])
    const none = program([], { program: { words: ['/no/such/program'], env: {} } })
    expect(await reasons(none)).toEqual([
      { server: 'beans', reason: 'its program cannot be started: /no/such/program is not there' },
    ])
  })
})

it.skipIf(!existsSync('/proc/self/stat'))(
  'a program that ended before anybody was told of it is said to have ended, with what it said last',
  async () => {
    const before = new Set(childrenOf(process.pid))
    const transport = new ProgramTransport(
      await import('@modelcontextprotocol/client'),
      program(['broken']).program!,
      manualTime(),
    )
    await transport.start()
    const [pid] = childrenOf(process.pid).filter((one) => !before.has(one))
    // Nothing else has its turn meanwhile, such as what reads that it ended.
    while (!isOver(pid!));
    const sent = transport.send({ jsonrpc: '2.0', id: 1, method: 'ping' })
    await expect(sent).rejects.toThrow('its program ended with status 2: no such folder')
  },
)

it.skipIf(!existsSync('/proc/self/stat'))(
  'an answer that a program writes just before it ends is read',
  async () => {
    const before = new Set(childrenOf(process.pid))
    const transport = new ProgramTransport(
      await import('@modelcontextprotocol/client'),
      program(['last']).program!,
      manualTime(),
    )
    const answers: unknown[] = []
    transport.onmessage = (message) => void answers.push(message)
    const closed = new Promise<void>((resolve) => {
      transport.onclose = resolve
    })
    await transport.start()
    const [pid] = childrenOf(process.pid).filter((one) => !before.has(one))
    while (!isOver(pid!));
    await closed
    expect(answers).toMatchObject([{ id: 1 }])
  },
)

describe('programs that did not start', () => {
  it('are left alone for a while, which doubles up to a minute', () => {
    const time = manualTime()
    const rests = createRests(time)
    const waits = () => Number(/in (\d+) s$/.exec(rests.of('stdio:beans') ?? '')?.[1] ?? 0)
    const found = Array.from({ length: 8 }, () => {
      rests.tell('stdio:beans', 'its program ended')
      const wait = waits()
      time.advance(wait * 1_000)
      expect(rests.of('stdio:beans')).toBeNull()
      return wait
    })
    expect(found).toEqual([1, 2, 4, 8, 16, 32, 60, 60])
    rests.tell('stdio:beans', null)
    rests.tell('stdio:beans', 'its program ended')
    expect(waits()).toBe(1)
    expect(rests.of('stdio:other')).toBeNull()
  })
})

describe('programs of many runs', () => {
  /** As many programs as a run is to have, none of which starts. */
  const connecting = (time: ReturnType<typeof manualTime>) =>
    connector({
      calls: {
        mcpServersToConnect: async (names) => ({
          servers: names.map((name) =>
            program([], { name, program: { words: ['/no/such/program'], env: {} } }),
          ),
          skipped: [],
          pins: new Map(),
        }),
        seenMcpTools: async () => [],
      },
      ...{ http: fetch, tokens: noApps, clock: time, timers: time },
    })
  const names = (count: number) => Array.from({ length: count }, (_, n) => `beans-${n}`)
  const onwards = new AbortController().signal

  it('are 16 at once: a run more waits for its own, and leaves the line when it is cut off', async () => {
    const connect = connecting(manualTime())
    const lined: Promise<unknown>[] = []
    const inLine = <T>(turn: Promise<T>) => {
      lined.push(turn)
      return turn
    }
    const [first] = [await connect(names(1), onwards, inLine), await connect(names(15), onwards, inLine)]
    const cut = new AbortController()
    const gone = connect(names(1), cut.signal, inLine)
    const next = connect(names(1), onwards, inLine)
    await expect.poll(() => lined).toHaveLength(4)
    expect(await Promise.race([...lined.slice(2), 'in line'])).toBe('in line')
    cut.abort('cut')
    await expect(gone).rejects.toBe('cut')
    await first.close()
    expect((await next).skipped).toHaveLength(1)
  })

  it('take nothing of its time from a run that waits', async () => {
    const time = manualTime()
    const ended: unknown[] = []
    const definition = { mcp_servers: ['beans'] }
    const run: object = { id: 'run_1', deadlineAt: time.now() + 1_000, definition, steps: [] }
    const waiting = [run as StartedRun]
    let turn = () => {}
    const runner = startRunner({
      port: {
        claimRuns: async () => ({ started: waiting.splice(0), ended: [], nextAt: null }),
        finishRun: async (_id: string, end: unknown) => void ended.push(end),
      } as Partial<RunPort> as RunPort,
      models: {} as Models,
      connect: async (_servers, signal, inLine) => {
        await inLine(new Promise<void>((resolve) => (turn = resolve)))
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      },
      ...{ clock: time, timers: time, onError: () => {} },
    })
    onTestFinished(() => runner.stop())
    runner.nudge()
    await expect.poll(() => waiting).toHaveLength(0)
    await expect.poll(() => time.waits().includes(1_000)).toBe(false)
    time.advance(5_000)
    turn()
    await expect.poll(() => time.waits()).toContain(1_000)
    expect(ended).toEqual([])
    time.advance(1_000)
    await expect.poll(() => ended).toMatchObject([{ event: 'deadline' }])
  })

  it('that ended, of a run that is cut off meanwhile, are started no more, and leave their places at once', async () => {
    const time = manualTime()
    const faults: string[] = []
    const call = (tool: string) => ({ id: tool, name: `beans__${tool}`, arguments: {} })
    const asked = { choice: 'auto', max_tokens: 100, ceiling_usd: null }
    const reply = { text: '', calls: [call('die'), call('started')], stop: 'calls' }
    const steps = [
      { n: 1, kind: 'prompt', data: { system: '', message: 'Look.', marker: 'm', shown: [], tools: [] } },
      { n: 2, kind: 'model', data: { asked, reply } },
    ].map((step) => ({ round: 0, at: 0, ms: 0, ...step }))
    const definition = {
      mcp_servers: ['beans'],
      tools: [
        { server: 'beans', tool: 'die' },
        { server: 'beans', tool: 'started' },
      ],
    }
    const run = { id: 'run_1', deadlineAt: time.now() + 900_000, definition, steps, marker: 'm', skills: [] }
    const waiting = [run] as unknown as StartedRun[]
    const finished: unknown[] = []
    const begun: string[] = []
    const runner = startRunner({
      port: {
        claimRuns: async () => ({ started: waiting.splice(0), ended: [], nextAt: null }),
        recordSteps: async (
          _id: string,
          written: { ms: number | null; data: { call?: { name: string } } }[],
        ) => {
          for (const { ms, data } of written) if (ms === null) begun.push(data.call!.name)
        },
        finishRun: async (_id: string, end: unknown) => void finished.push(end),
      } as unknown as RunPort,
      models: {} as Models,
      connect: connector({
        calls: {
          mcpServersToConnect: async () => ({
            servers: [program(['modern'])],
            skipped: [],
            pins: new Map(),
          }),
          seenMcpTools: async () => [],
        },
        ...{ http: fetch, tokens: noApps, clock: time, timers: time },
      }),
      ...{ clock: time, timers: time, onError: ({ message }) => void faults.push(message) },
    })
    runner.nudge()
    // The second call waits for the program that the first has ended.
    await expect.poll(() => begun).toEqual(['beans__die', 'beans__started'])
    await eventually(() => expect(time.waits()).toContain(1_000))
    runner.cut('run_1')
    // Its time is over with it, and nothing else is waited for.
    await eventually(() => expect(time.waits()).toEqual([]))
    await runner.stop()
    expect([finished, faults]).toEqual([[], []])
  })
})
