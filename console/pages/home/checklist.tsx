/** The first steps, and which of them are done. */
import { CircleCheck, CircleDashed } from 'lucide-react'
import { Link } from 'react-router'
import type { Home } from '../../../schemas/types.ts'

const STEPS: [step: keyof Home['checklist'], words: string, to: string][] = [
  ['event', 'Send an event', '/sources'],
  ['trigger', 'Add a trigger', '/triggers/new'],
  ['notification', 'Notify somebody', '/triggers'],
  ['agent', 'Add an agent', '/agents/new'],
]

export function Checklist({ done }: { done: Home['checklist'] }) {
  return (
    <section className="card" aria-label="First steps" style={{ padding: '10px 14px', maxWidth: 1400 }}>
      <h2 style={{ margin: 0, fontSize: 14 }}>
        First steps: {STEPS.filter(([step]) => done[step]).length} of {STEPS.length}
      </h2>
      {STEPS.map(([step, words, to]) => (
        <div className="rail-row" key={step}>
          {done[step] ? (
            <CircleCheck size={15} role="img" aria-label="Done" color="var(--good)" />
          ) : (
            <CircleDashed size={15} role="img" aria-label="To do" color="var(--quiet)" />
          )}
          {done[step] ? <span>{words}</span> : <Link to={to}>{words}</Link>}
        </div>
      ))}
    </section>
  )
}
