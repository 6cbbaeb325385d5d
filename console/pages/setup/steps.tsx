/** Where guided setup stands: Goal, Plan, Connect, Try it. */
import { Check } from 'lucide-react'
import { Link } from 'react-router'

const STEPS = [
  { value: 'goal', label: 'Goal' },
  { value: 'plan', label: 'Plan' },
  { value: 'connect', label: 'Connect' },
  { value: 'try', label: 'Try it' },
] as const
type StepName = (typeof STEPS)[number]['value'] | 'done'

/** @param links where a step can be gone to. */
export function Steps({ at, links = {} }: { at: StepName; links?: Partial<Record<StepName, string>> }) {
  const now = at === 'done' ? STEPS.length : STEPS.findIndex(({ value }) => value === at)
  return (
    <nav aria-label="Steps of setup">
      <ol className="setup-steps">
        {STEPS.map(({ value, label }, i) => {
          const state = i < now ? 'done' : i === now ? 'now' : 'later'
          const to = links[value]
          return (
            <li key={value} data-state={state} aria-current={state === 'now' ? 'step' : undefined}>
              <span className="setup-step-mark" aria-hidden>
                {state === 'done' ? <Check size={13} /> : i + 1}
              </span>
              {to && state !== 'now' ? <Link to={to}>{label}</Link> : <span>{label}</span>}
            </li>
          )
        })}
      </ol>
    </nav>
  )
}
