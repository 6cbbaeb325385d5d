/** A box that selects a row. A button, as the keys of a list rest while an input has the focus. */
import { Check, Minus } from 'lucide-react'

interface Props {
  label: string
  checked: boolean | 'mixed'
  onToggle: () => void
}

export function RowCheckbox({ label, checked, onToggle }: Props) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: an input would take the keys of the list.
    <button
      type="button"
      role="checkbox"
      aria-label={label}
      aria-checked={checked}
      className="row-checkbox above"
      onClick={onToggle}
    >
      <span>
        {checked === true && <Check size={13} strokeWidth={3} aria-hidden />}
        {checked === 'mixed' && <Minus size={13} strokeWidth={3} aria-hidden />}
      </span>
    </button>
  )
}
