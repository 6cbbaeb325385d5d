/** Reads on threads of their own: short ones on one, wide ones on another, so that neither holds up ingest. */
import type { ReadRequest } from '../../schemas/types.ts'
import { agentTestReadNames } from '../agent-tests/calls.ts'
import type { Timers } from '../clock.ts'
import type { Asked, ReadAnswer } from '../engine.ts'
import { modelReadNames } from '../models/calls.ts'
import { runReadNames } from '../runs/calls.ts'
import { triggerReadNames } from '../triggers/calls.ts'
import type { Engine } from '../whole-engine.ts'
import { EngineThread, type ThreadEvents } from './thread.ts'
import { WideReads } from './wide-reads.ts'

/** Answered from an index, or a page of rows. */
const SHORT = [
  'entities',
  'entityValues',
  'event',
  ...triggerReadNames.filter((name) => name !== 'backtest'),
  ...runReadNames,
  ...agentTestReadNames,
  ...modelReadNames,
] as const
/** With how many of their arguments the thread is called: after them comes who asks. */
const WIDE = { stats: 1, histogram: 1, backtest: 1, replay: 2 } as const

export interface Reading {
  /** Of short reads. */
  thread: EngineThread
  calls: Pick<Engine, (typeof SHORT)[number] | keyof typeof WIDE>
  /** A read; one that looks at the text of events is wide. */
  read(request: ReadRequest, asked?: Asked): Promise<ReadAnswer>
  stop(): Promise<void>
}

/** Starts the thread of short reads; that of wide ones begins with the first of them. */
export function startReading(parts: {
  entry: URL
  dataFile: string
  events: ThreadEvents
  timers: Timers
}): Reading {
  const { entry, dataFile, events, timers } = parts
  const open = (events: ThreadEvents) => new EngineThread(entry, { role: 'reader', dataFile }, events)
  const thread = open(events)
  const wide: WideReads = new WideReads(() => {
    const begun = open({
      ...events,
      onFatal: (error) => {
        events.onFault('wide reads', error.stack ?? error.message)
        wide.lost()
      },
    })
    begun.send({ t: 'open' })
    return {
      call: async (method, args) => {
        await begun.ready
        return begun.call(method, args)
      },
      end: () => begun.end(),
    }
  }, timers)
  const short = SHORT.map((method) => [method, (...args: unknown[]) => thread.call(method, args)])
  const wideCalls = Object.entries(WIDE).map(([method, count]) => [
    method,
    (...args: unknown[]) => wide.run(method, args.slice(0, count), args[count] as Asked | undefined),
  ])
  return {
    thread,
    calls: Object.fromEntries([...short, ...wideCalls]) as Reading['calls'],
    read: (request, asked) =>
      request.text === undefined ? thread.call('read', [request]) : wide.run('read', [request], asked),
    stop: async () => {
      await wide.stop()
      await thread.stop()
    },
  }
}
