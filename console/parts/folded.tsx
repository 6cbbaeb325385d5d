/** Fields that few need, folded: how many of them are not as they are by default stands on the fold. Who only reads sees them. */
import { UnstyledButton } from '@mantine/core'
import { ChevronDown, ChevronRight } from 'lucide-react'
import { type ReactNode, useId, useState } from 'react'
import { useMay } from './may.tsx'

interface Props {
  changed: number
  total: number
  /** One of the fields has a fault, which is not hidden. */
  isFaulty?: boolean
  children: ReactNode
}

export function Folded({ changed, total, isFaulty = false, children }: Props) {
  const [isOpened, setOpened] = useState(!useMay())
  const isOpen = isOpened || isFaulty
  const id = useId()
  const Chevron = isOpen ? ChevronDown : ChevronRight
  return (
    <div>
      <UnstyledButton
        className="more-options"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpened(!isOpen)}
      >
        <Chevron size={16} aria-hidden /> More options: {changed} of {total} changed
      </UnstyledButton>
      <div id={id} hidden={!isOpen}>
        {isOpen && children}
      </div>
    </div>
  )
}
