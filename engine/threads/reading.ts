/** Reads on threads of their own: short ones on one, wide ones on another, so that neither holds up ingest. */
import type { Timers } from '../clock.ts'
import type { Answering } from '../roles/who-answers.ts'
import { THREAD_HEAP, WIDE_HEAP } from './heaps.ts'
import type { SharedOptions } from './protocol.ts'
import { EngineThread, type ThreadEvents } from './thread.ts'
import { WideReads } from './wide-reads.ts'

export interface Reading extends Pick<Answering, 'short' | 'wide'> {
  /** Of short reads. */
  thread: EngineThread
  stop(): Promise<void>
}

/** Starts the thread of short reads; that of wide ones begins with the first of them. */
export function startReading(parts: {
  entry: URL
  options: SharedOptions
  events: ThreadEvents
  timers: Timers
}): Reading {
  const { entry, options, events, timers } = parts
  const open = (events: ThreadEvents, heap = THREAD_HEAP) =>
    new EngineThread(entry, { role: 'reader', ...options }, events, [], heap)
  const thread = open(events)
  const wide: WideReads = new WideReads(() => {
    const onFatal = (error: Error) => {
      events.onFault('wide reads', error.stack ?? error.message)
      wide.lost()
    }
    const begun = open({ ...events, onFatal }, WIDE_HEAP)
    begun.send({ t: 'open' })
    return {
      call: async (method, args) => {
        await begun.ready
        return begun.call(method, args)
      },
      end: () => begun.end(),
    }
  }, timers)
  return {
    thread,
    short: (method, args) => thread.call(method, args),
    wide: (method, args, { asked, advice }) => wide.run(method, args, asked, advice),
    stop: async () => {
      await wide.stop()
      await thread.stop()
    },
  }
}
