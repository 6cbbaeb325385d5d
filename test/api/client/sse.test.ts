import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readEvents } from '../../../api/client/sse.ts'

describe('a stream of server-sent events', () => {
  it('gives the same events however its bytes are cut', async () => {
    const text =
      ': comment\r\nretry: 1500\r\n\r\nid: 1\nevent: event\ndata: {"a":"ü"}\ndata: x\n\ndata:y\r\rid: \u00002\ndata\n\nevent: lost\ndata: unfinished'
    const bytes = Buffer.from(text)
    const expected = [
      { type: 'event', data: '{"a":"ü"}\nx', id: '1' },
      { type: 'message', data: 'y', id: '1' },
      { type: 'message', data: '', id: '1' },
    ]
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.nat(bytes.length)), async (cuts) => {
        const ends = [...cuts.sort((a, b) => a - b), bytes.length]
        async function* parts() {
          let from = 0
          for (const end of ends) {
            yield bytes.subarray(from, end)
            from = end
          }
        }
        const retries: number[] = []
        const events = []
        for await (const event of readEvents(ReadableStream.from(parts()), (ms) => retries.push(ms)))
          events.push(event)
        expect(events).toEqual(expected)
        expect(retries).toEqual([1500])
      }),
    )
  })

  it('is ended by who stops reading it', async () => {
    let ended = false
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(Buffer.from('data: a\n\ndata: b\n\n')),
      cancel: () => {
        ended = true
      },
    })
    for await (const { data } of readEvents(stream)) {
      expect(data).toBe('a')
      break
    }
    expect(ended).toBe(true)
  })

  it('has no event without data', async () => {
    const stream = ReadableStream.from([Buffer.from('event: event\nid: 3\n\n')])
    for await (const event of readEvents(stream)) expect.fail(event.type)
  })
})
