/** Two steps between a discovery and its proposal: choose metrics, then look at what they say. */
import { Paper } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { ChooseStep } from './choose-step.tsx'
import type { Ask, Choice, Offer } from './picking.ts'
import type { Form } from './proposal-view.tsx'
import { SampledStep } from './sampled-step.tsx'

interface Props {
  /** Tells the answers of one discovery from those of another. */
  id: number
  offer: Offer
  ask: Ask
  form: Form
  onDrop: () => void
}

export function Picker({ id, offer, ask, form, onDrop }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const [step, setStep] = useState<'choose' | 'sampled' | null>(null)
  const [choice, setChoice] = useState<Choice>({ names: new Set(), search: '', label: null, key: null })
  const change = (more: Partial<Choice>) => setChoice((before) => ({ ...before, ...more }))
  // The button that was pressed is gone with its step.
  useEffect(() => {
    if (step) box.current?.focus()
  }, [step])
  const isSampled = step === 'sampled'
  return (
    <Paper
      ref={box}
      withBorder
      p="md"
      radius="md"
      role="region"
      aria-label={isSampled ? 'Proposal' : 'Choose metrics'}
      tabIndex={-1}
      onKeyDown={(event) => {
        // Enter in a field of the panel does not save the form around it.
        if (event.key === 'Enter' && event.target instanceof HTMLInputElement) event.preventDefault()
      }}
    >
      {isSampled ? (
        <SampledStep
          id={id}
          names={offer.metrics.filter((name) => choice.names.has(name)).concat(unlisted(offer, choice.names))}
          wantedKey={choice.key}
          onKey={(key) => change({ key })}
          ask={ask}
          form={form}
          onBack={() => setStep('choose')}
          onDrop={onDrop}
        />
      ) : (
        <ChooseStep
          id={id}
          offer={offer}
          choice={choice}
          onChange={change}
          ask={ask}
          onNext={() => setStep('sampled')}
          onDrop={onDrop}
        />
      )}
    </Paper>
  )
}

/** Of a list that was cut, a label brings up metrics that are not in it. */
function unlisted({ metrics }: Offer, names: ReadonlySet<string>): string[] {
  const listed = new Set(metrics)
  return [...names].filter((name) => !listed.has(name))
}
