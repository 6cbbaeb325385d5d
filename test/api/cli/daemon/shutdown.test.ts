import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { createStop } from '../../../../api/cli/daemon/shutdown.ts'

describe('stopping', () => {
  const setUp = (closeServer: () => Promise<void> = async () => {}) => {
    const steps: string[] = []
    const timers: { ms: number; fn: () => void }[] = []
    const clock = { now: 1_000 }
    const stop = createStop(
      {
        beginStop: () => void steps.push('refuse'),
        closeServer: async () => {
          await closeServer()
          steps.push('server closed')
        },
        cutConnections: () => void steps.push('cut'),
        closeEngine: async () => void steps.push('engine closed'),
      },
      {
        log: pino({ level: 'silent' }),
        exit: (code) => void steps.push(`exit ${code}`),
        giveUp: (code) => void steps.push(`give up ${code}`),
        after: (ms, fn) => void timers.push({ ms, fn }),
        monotonicMs: () => clock.now,
      },
    )
    return { stop, steps, timers, clock }
  }

  it('refuses new work, answers what is under way, closes the engine, and exits with 0', async () => {
    const { stop, steps } = setUp()
    await stop('SIGTERM')
    expect(steps).toEqual(['refuse', 'server closed', 'engine closed', 'exit 0'])
  })

  it('cuts what is left after 5 seconds and gives up after 10', () => {
    const { stop, steps, timers } = setUp(() => new Promise(() => {}))
    void stop('SIGTERM')
    expect(timers.map((timer) => timer.ms)).toEqual([10_000, 5_000])
    timers[1]!.fn()
    timers[0]!.fn()
    expect(steps).toEqual(['refuse', 'cut', 'give up 1'])
  })

  it('exits at once on a second signal', async () => {
    const { stop, steps, clock } = setUp(() => new Promise(() => {}))
    void stop('SIGINT')
    clock.now += 500
    await stop('SIGINT')
    expect(steps).toEqual(['refuse', 'exit 1'])
  })

  it('takes no hang-up for an urging: a terminal that closes sends it more than once', async () => {
    const { stop, steps, clock } = setUp(() => new Promise(() => {}))
    void stop('SIGHUP')
    clock.now += 3_000
    await stop('SIGHUP')
    expect(steps).toEqual(['refuse'])
    await stop('SIGTERM')
    expect(steps).toEqual(['refuse', 'exit 1'])
  })

  it('takes the same Ctrl-C, passed on by npm, for one signal', async () => {
    const { stop, steps, clock } = setUp(() => new Promise(() => {}))
    void stop('SIGINT')
    clock.now += 499
    await stop('SIGINT')
    expect(steps).toEqual(['refuse'])
  })

  it('exits with 70 when closing fails', async () => {
    const { stop, steps } = setUp(async () => {
      throw new Error('x')
    })
    await stop('SIGTERM')
    expect(steps.at(-1)).toBe('exit 70')
  })
})
