/** Text to copy: a field, or a whole command. */
import { ActionIcon, Group, Paper } from '@mantine/core'
import { Check, Copy } from 'lucide-react'
import { useRef } from 'react'
import { useCopy } from '../lib/copy-text.ts'
import { isSameButTimes } from '../lib/time.ts'
import { Tooltip } from './tooltip.tsx'

interface CopyIconProps {
  value: string
  label: string
  /** The value stands nowhere on the page. */
  isHidden?: boolean
}

export function CopyIcon({ value, label, isHidden = false }: CopyIconProps) {
  const { copied, copy } = useCopy()
  return (
    <Tooltip label={copied ? 'Copied' : label}>
      <ActionIcon
        variant="subtle"
        color={copied ? 'teal' : 'gray'}
        onClick={() => copy(value, !isHidden)}
        aria-label={copied ? 'Copied' : label}
      >
        {copied ? <Check size={15} aria-hidden /> : <Copy size={15} aria-hidden />}
      </ActionIcon>
    </Tooltip>
  )
}

export function CopyBlock({ value: given, label }: { value: string; label: string }) {
  // An example is made anew whenever the page asks again: what one is about to mark must not change for its time.
  const shown = useRef(given)
  if (!isSameButTimes(shown.current, given)) shown.current = given
  const value = shown.current
  return (
    <Paper withBorder radius="md" p="xs" bg="var(--mantine-color-default-hover)">
      <Group wrap="nowrap" align="flex-start" justify="space-between" gap="xs">
        <pre
          className="mono"
          style={{ margin: 0, whiteSpace: 'pre-wrap', overflowWrap: 'anywhere', textAlign: 'left' }}
        >
          {value}
        </pre>
        <CopyIcon value={value} label={label} />
      </Group>
    </Paper>
  )
}
