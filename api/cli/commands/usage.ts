/** `svc usage`: what models were used for, and what it cost (GET /api/usage/model). */
import type { ModelSpend } from '../../../schemas/types.ts'
import * as calls from '../../client/calls.ts'
import { costText } from '../run-words.ts'
import { type Column, paint, table } from '../terminal.ts'
import { noun, verb } from '../verbs.ts'

interface Line {
  what: string
  spend: ModelSpend
}

const LINES: Column<Line>[] = [
  { title: 'WHAT', cell: ({ what }) => what },
  { title: 'CALLS', cell: ({ spend }) => String(spend.calls) },
  { title: 'TOKENS IN', cell: ({ spend }) => String(spend.input_tokens) },
  { title: 'TOKENS OUT', cell: ({ spend }) => String(spend.output_tokens) },
  { title: 'COST', cell: ({ spend }) => costWords(spend) },
]

const SURFACES = { agent: 'agents', ask: 'Ask', setup: 'guided setup' } as const

/** The group. */
export const usageCommand = noun('usage', 'Show what models were used for, and what it cost', {
  list: verb({
    does: 'Show it: of all time, by what asked, and by day',
    call: calls.modelUsage,
    options: [['--days <n>', 'days that are listed, today among them', '7']],
    tell: (io, { total, by_surface, by_provider, days }) => {
      const lines: Line[] = [
        { what: 'all of it', spend: total },
        ...Object.entries(SURFACES).map(([key, what]) => ({
          what,
          spend: by_surface[key as keyof typeof SURFACES],
        })),
        ...Object.entries(by_provider).map(([provider, spend]) => ({ what: `by ${provider}`, spend })),
        ...days.map(({ day, ...spend }) => ({ what: day.slice(0, 10), spend })),
      ]
      io.out(
        table(
          io,
          LINES,
          lines.filter(({ spend }) => spend.calls > 0 || spend === total),
        ),
      )
      if (total.uncosted_calls > 0)
        io.err(paint(io, 'dim', 'calls without a price have their tokens here, and no dollars\n'))
    },
  }),
})

/** "$1.20", "$1.20 and 3 calls without a price", "not priced". */
function costWords({ calls: made, cost_usd: cost, uncosted_calls: uncosted }: ModelSpend): string {
  if (made === 0) return costText(0)
  if (cost === null || uncosted === 0) return costText(cost)
  return `${costText(cost)} and ${uncosted} ${uncosted === 1 ? 'call' : 'calls'} without a price`
}
