/** What an agent may use: rounds, dollars, runs. */

import type { AgentDraft } from '../../lib/agent-form.ts'
import { useMarks } from '../../parts/faulty.tsx'
import { NumberInput } from '../../parts/number-input.tsx'

type Bound = 'max_rounds' | 'run_budget_usd' | 'budget_usd' | 'daily_cap' | 'concurrency'

interface Props {
  draft: AgentDraft
  set: (field: Bound, value: number | null) => void
  /** Rounds where none are set. */
  rounds: { plain: number; withMcp: number; limit: number }
}

export function BoundFields({ draft, set, rounds }: Props) {
  const mark = useMarks()
  const number = (field: Bound) => ({
    ...mark(field),
    value: draft[field] ?? '',
    onChange: (value: string | number) => set(field, value === '' ? null : Number(value)),
    min: 0,
  })
  return (
    <div className="field-grid">
      <NumberInput
        label="Rounds"
        description={`Model calls of one run. Default: ${rounds.plain}, or ${rounds.withMcp} with tools`}
        {...number('max_rounds')}
        min={1}
        max={rounds.limit}
        allowDecimal={false}
      />
      <NumberInput
        label="Budget of one run"
        description="US dollars. Optional"
        {...number('run_budget_usd')}
        prefix="$"
      />
      <NumberInput
        label="Lifetime budget (USD)"
        description="Optional"
        {...number('budget_usd')}
        prefix="$"
      />
      <NumberInput
        label="Runs a day"
        description="Default: the instance’s cap"
        {...number('daily_cap')}
        min={1}
        max={10_000}
        allowDecimal={false}
      />
      <NumberInput
        label="Runs at the same time"
        description="Default: 4"
        {...number('concurrency')}
        min={1}
        max={200}
        allowDecimal={false}
      />
    </div>
  )
}
