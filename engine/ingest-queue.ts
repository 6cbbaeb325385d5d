/** Single calls in process, gathered: those of one turn of the event loop are committed together. */
import type { IngestResult } from '../schemas/types.ts'
import type { IngestCall } from './calls.ts'
import { SvcError } from './errors.ts'

export class IngestQueue {
  private waiting: {
    call: IngestCall
    resolve: (result: IngestResult) => void
    reject: (error: Error) => void
  }[] = []

  constructor(private readonly accept: (calls: IngestCall[]) => (IngestResult | SvcError)[]) {}

  add(call: IngestCall): Promise<IngestResult> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ call, resolve, reject })
      if (this.waiting.length === 1) setImmediate(() => this.flush())
    })
  }

  flush(): void {
    const group = this.waiting
    this.waiting = []
    if (group.length === 0) return
    const answers = this.accept(group.map((entry) => entry.call))
    group.forEach((entry, i) => {
      const answer = answers[i]!
      if (answer instanceof SvcError) entry.reject(answer)
      else entry.resolve(answer)
    })
  }
}
