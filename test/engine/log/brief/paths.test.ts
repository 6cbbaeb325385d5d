/** Paths of one request: a step that is gone, one that is new, one that is slower; and requests as before. */
import { describe, expect, it } from 'vitest'
import type { ContextRow } from '../../../../engine/log/brief/brief.ts'
import { briefOf, ordinary, partOf, row } from './hand-made.ts'

const hex = (i: number) => (0x1_0000_0000 + i * 7_919).toString(16).padStart(32, '0')

/** 200 requests over an hour and a half; the last ones as `lately` says. @param ids in a label, or in the text */
function requests(
  lately: (say: (dt: number, entity: string, text: string, type?: string) => void) => void,
  ids: 'label' | 'text' = 'label',
): ContextRow[] {
  const rows: ContextRow[] = []
  for (let i = 0; i < 200; i++) {
    const t = -5_400 + i * 27
    const say = (dt: number, entity: string, text: string, type = 'info') =>
      rows.push(
        ids === 'label'
          ? row(t + dt, text, { entity, type, labels: { trace_id: hex(i) } })
          : row(t + dt, `TraceID: ${hex(i)} ${text}`, { entity, type }),
      )
    if (t > -300) lately(say)
    else usual(say)
  }
  return rows
}

function usual(say: (dt: number, entity: string, text: string, type?: string) => void): void {
  say(0, 'checkout', 'Checkout.java:41 order began')
  say(0.03, 'cart', 'Cart.java:88 basket priced')
  say(0.05, 'stock', 'Stock.java:31 reservation made')
  say(0.09, 'checkout', 'Checkout.java:60 order done')
}

const requestsOf = (rows: readonly ContextRow[]) => partOf(briefOf([...ordinary(), ...rows]), 'requests')

describe('requests', () => {
  it('where a step fails are told with the step before, how often, and in whose service they break first', () => {
    const [line] = requestsOf(
      requests((say) => {
        say(0, 'checkout', 'Checkout.java:41 order began')
        say(0.03, 'cart', 'Cart.java:88 basket priced')
        say(0.05, 'stock', 'Stock.java:77 no warehouse answers', 'error')
        say(0.09, 'checkout', 'Checkout.java:97 order refused', 'error')
      }),
    )
    expect(line).toMatch(/^evt_\d+…evt_\d+ 11:5\d:\d\d logs error after cart Cart\.java:88: /)
    expect(line).toMatch(/stock Stock\.java:31 STOPPED: 0 of \d+ requests, expected \d+, last at 11:5\d/)
    expect(line).toMatch(
      /now stock Stock\.java:77 ERROR ×\d+ of \d+ \(usual 0 of \d+\): .*no warehouse answers/,
    )
    expect(line).toMatch(/breaks first here in (\d+) of \1 trace=[0-9a-f]{8} \{service=stock\}$/)
  })

  it('are found by ids in the text of lines as well', () => {
    const lines = requestsOf(
      requests((say) => {
        say(0, 'checkout', 'Checkout.java:41 order began')
        say(0.03, 'cart', 'Cart.java:88 basket priced')
        say(0.09, 'checkout', 'Checkout.java:60 order done')
      }, 'text'),
    )
    expect(lines.join('\n')).toMatch(/Stock\.java:31 STOPPED: 0 of .*\{service=stock\}/)
  })

  it('that wait longer between two steps are told as slower', () => {
    const lines = requestsOf(
      requests((say) => {
        say(0, 'checkout', 'Checkout.java:41 order began')
        say(0.03, 'cart', 'Cart.java:88 basket priced')
        say(1.9, 'stock', 'Stock.java:31 reservation made')
        say(1.94, 'checkout', 'Checkout.java:60 order done')
      }),
    )
    expect(lines.join('\n')).toMatch(
      /Cart\.java:88 → Stock\.java:31 \(then stock\) SLOWER: pause 20 .* → 1870 /,
    )
  })

  it('that go as they did, or are few, have no part of their own', () => {
    expect(requestsOf(requests(usual))).toEqual([])
    expect(requestsOf(requests(usual).slice(0, 40))).toEqual([])
  })

  it('of which fewer come are not said to have lost a step', () => {
    const thinned = requests(usual).filter(
      ({ at }, i) => at < Date.parse('2026-11-20T11:56:40Z') || i % 8 < 4,
    )
    expect(requestsOf(thinned)).toEqual([])
  })
})

describe('spans', () => {
  /** checkout calls stock; stock's own time is `own(t)` ms. */
  const spans = (own: (t: number) => number): ContextRow[] =>
    Array.from({ length: 160 }, (_, i) => {
      const t = -5_000 + i * 31
      const ms = own(t) + (i % 5)
      const span = (entity: string, type: string, id: string, parent: string, whole: number, end: number) =>
        row(end, `${type} ${whole}ms`, {
          ...{ entity, type, source: 'traces', isSample: true, values: { value: whole } },
          labels: { trace_id: hex(i), span_id: id, ...(parent ? { parent_id: parent } : {}) },
        })
      return [
        span('checkout', 'POST /order', 'a', '', ms + 20, t + (ms + 20) / 1000),
        span('stock', 'reserve', 'b', 'a', ms, t + (ms + 10) / 1000),
      ]
    }).flat()

  it('that take longer by themselves are told, and not the one that waits for them', () => {
    const lines = requestsOf(spans((t) => (t > -200 ? 900 : 30)))
    expect(lines.join('\n')).toMatch(/traces stock reserve SLOWER: .*own \d+ .* → 90\d /)
    expect(lines.join('\n')).not.toMatch(/checkout POST \/order[^;]*SLOWER/)
  })

  it('that take what they took are not', () => {
    expect(requestsOf(spans(() => 30))).toEqual([])
  })
})
