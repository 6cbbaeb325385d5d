/** A card of the plan: its heading, what is wrong with it, its entries. */
import { ActionIcon, Badge, Button, Group, Modal, Paper, Stack, Text, Title } from '@mantine/core'
import { CircleAlert, Pencil, Plus, Trash2 } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { PlanProblem } from '../../../../schemas/types.ts'
import type { FieldErrors } from '../../../lib/field-errors.ts'
import { problemWords } from '../../../lib/plan-problems.ts'
import { Tooltip } from '../../../parts/tooltip.tsx'

interface CardProps {
  title: string
  /** Its section in problems, such as watches. */
  section: string
  problems: readonly PlanProblem[]
  /** What to add, in a word or two; absent: nothing can be. */
  add?: { label: string; onAdd: () => void }
  /** Said where it has no entries. */
  empty?: string
  children?: ReactNode
}

export function Card({ title, section, problems, add, empty, children }: CardProps) {
  return (
    <Paper withBorder p="md" radius="md" component="section" aria-label={title}>
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2}>{title}</Title>
          {add && (
            <Button
              size="compact-sm"
              variant="subtle"
              leftSection={<Plus size={14} aria-hidden />}
              onClick={add.onAdd}
            >
              {add.label}
            </Button>
          )}
        </Group>
        <Problems problems={problems} where={section} />
        {empty && (
          <Text size="sm" c="dimmed">
            {empty}
          </Text>
        )}
        {children}
      </Stack>
    </Paper>
  )
}

/** What the check found at one place. */
export function Problems({ problems, where }: { problems: readonly PlanProblem[]; where: string }) {
  const mine = problems.filter((problem) => problem.where === where)
  if (mine.length === 0) return null
  return (
    <div role="status">
      {mine.map(({ message }) => (
        <Group key={message} gap={6} wrap="nowrap" align="flex-start">
          <CircleAlert
            size={15}
            color="var(--mantine-color-error)"
            aria-hidden
            style={{ flexShrink: 0, marginTop: 3 }}
          />
          <Text size="sm" fw={500} style={{ overflowWrap: 'anywhere' }}>
            {problemWords(message)}
          </Text>
        </Group>
      ))}
    </div>
  )
}

interface EntryProps {
  name: string
  /** Where it is in problems, such as watches.w1. */
  where: string
  problems: readonly PlanProblem[]
  badge?: string
  sentence?: string
  onEdit?: () => void
  onRemove?: () => void
  /** Beside the name, such as a switch. */
  control?: ReactNode
  children?: ReactNode
}

export function Entry(props: EntryProps) {
  const { name, where, problems, badge, sentence, onEdit, onRemove, control, children } = props
  const called = name || 'without a name'
  return (
    <div className="setup-entry">
      <Group justify="space-between" wrap="nowrap" align="flex-start" gap="xs">
        <div style={{ minWidth: 0 }}>
          <Group gap="xs">
            <Text fw={600} className="mono" style={{ overflowWrap: 'anywhere' }}>
              {called}
            </Text>
            {badge && (
              <Badge variant="default" tt="none" size="sm">
                {badge}
              </Badge>
            )}
          </Group>
          {sentence && (
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              {sentence}
            </Text>
          )}
        </div>
        <Group gap={4} wrap="nowrap">
          {control}
          {onEdit && (
            <Tooltip label="Edit">
              <ActionIcon variant="subtle" color="gray" onClick={onEdit} aria-label={`Edit ${called}`}>
                <Pencil size={15} aria-hidden />
              </ActionIcon>
            </Tooltip>
          )}
          {onRemove && (
            <Tooltip label="Remove">
              <ActionIcon variant="subtle" color="gray" onClick={onRemove} aria-label={`Take ${called} out`}>
                <Trash2 size={15} aria-hidden />
              </ActionIcon>
            </Tooltip>
          )}
        </Group>
      </Group>
      <Problems problems={problems} where={where} />
      {children}
    </div>
  )
}

interface DialogProps {
  title: string
  /** It is closed; what was typed may be kept by the caller. */
  onClose: () => void
  /** What was typed is given up. */
  onCancel?: () => void
  onKeep: () => void
  /** What is blank and needed, by field. */
  missing: FieldErrors
  /** Its fields are not there yet, so nothing is known of what is missing. */
  isLoading?: boolean
  /** @param shown of what is missing: all of it, once it was to be kept so */
  children: (shown: FieldErrors) => ReactNode
}

/** The fields of one entry; nothing is kept until it is said. */
export function EntryDialog(props: DialogProps) {
  const { title, onClose, onCancel, onKeep, missing, isLoading = false, children } = props
  const [isTried, setTried] = useState(false)
  return (
    // A click beside it would lose what is typed.
    <Modal opened onClose={onClose} title={title} size="lg" closeOnClickOutside={false}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          // A form inside the dialog is no form of the page.
          event.stopPropagation()
          // Enter in a field sends a form without a button, too (HTML, implicit submission).
          if (isLoading) return
          setTried(true)
          if (Object.keys(missing).length === 0) onKeep()
        }}
      >
        <Stack>
          {children(isTried ? missing : {})}
          {/* Below fields that are still to come they would move away from under the pointer. */}
          {!isLoading && (
            <Group justify="flex-end">
              <Button
                variant="default"
                onClick={() => {
                  onCancel?.()
                  onClose()
                }}
              >
                Cancel
              </Button>
              <Button type="submit">Apply to the plan</Button>
            </Group>
          )}
        </Stack>
      </form>
    </Modal>
  )
}

/** Rows with one of them changed, taken out, or added. */
export const withoutRow = <T extends { key: string }>(rows: readonly T[], key: string): T[] =>
  rows.filter((row) => row.key !== key)

/** The first key that is free: w1, w2. */
export function freeKey(letter: string, rows: readonly { key: string }[]): string {
  let n = 1
  while (rows.some(({ key }) => key === `${letter}${n}`)) n++
  return `${letter}${n}`
}
