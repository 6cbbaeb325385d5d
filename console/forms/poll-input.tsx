/** How often a source is polled. */
import type { Connector } from '../../schemas/types.ts'
import { DurationInput } from '../parts/duration-input.tsx'

interface Props {
  connector: Connector
  /** Blank: what the connector suggests. */
  value: string
  onChange: (poll: string) => void
  /** What the API said of it. */
  fault?: string | undefined
  w?: number | string
}

/** Nothing for a connector that does not poll. */
export function PollInput({ connector, value, onChange, fault, w = 220 }: Props) {
  if (connector.mode !== 'poll') return null
  return (
    <DurationInput
      label="Poll interval"
      description={connector.poll ? `Default: ${connector.poll}` : 'For example 5m'}
      value={value}
      onChange={onChange}
      fault={fault}
      data-field="poll"
      optional
      w={w}
    />
  )
}
