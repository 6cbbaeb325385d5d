/** The one bar of edit mode: what is edited, what is changed, and what can be done with it. */
import { ActionIcon, Button, Group, SegmentedControl, Text, Title } from '@mantine/core'
import { CircleAlert, ClipboardPaste, Copy, Plus, Unplug } from 'lucide-react'
import { type ReactNode, useEffect, useRef } from 'react'
import { UndoButtons } from './changes/steps.tsx'
import { problemsOf } from './state/problems.ts'
import type { Session } from './state/use-session.ts'

export function EditBar({ session }: { session: Session }) {
  const { actions, editor, opened, selected, setOpened } = session
  const { draft } = editor
  const head = useRef<HTMLHeadingElement>(null)
  // Who pressed Edit is in the bar then: the button is gone.
  useEffect(() => head.current?.focus({ preventScroll: true }), [])
  const isReviewing = opened !== null && 'review' in opened
  const isRefused = problemsOf(editor).length > 0
  const none = selected.length === 0
  return (
    <header className="editor-bar">
      <Title order={1} ref={head} tabIndex={-1} className="editor-bar-name">
        {editor.live.project.name}
      </Title>
      <ViewSwitch session={session} />
      <Text size="sm" c="dimmed" className="editor-bar-count" role="status">
        {changesWords(draft?.cursor ?? 0)}
        {isRefused && (
          <Text span inherit c="var(--mantine-color-error)" fw={600}>
            {' · '}
            <CircleAlert size={14} aria-hidden style={{ verticalAlign: '-2px' }} />{' '}
            {editor.preview.error ? 'not checked' : 'refused'}
          </Text>
        )}
      </Text>
      <UndoButtons editor={editor} />
      <Group gap={4} wrap="nowrap">
        <Act label="Copy selected" disabled={none} onClick={() => void actions.copy(selected)}>
          <Copy size={15} aria-hidden />
        </Act>
        <Act label="Paste" onClick={session.pasting.read}>
          <ClipboardPaste size={15} aria-hidden />
        </Act>
        <Act label="Take out selected" disabled={none} onClick={() => void actions.remove(selected)}>
          <Unplug size={15} aria-hidden />
        </Act>
      </Group>
      <Group gap="xs" wrap="nowrap" ml="auto">
        <Button
          size="xs"
          variant="default"
          leftSection={<Plus size={14} aria-hidden />}
          aria-pressed={session.hasPalette && opened === null}
          onClick={() => {
            session.setPalette(opened !== null || !session.hasPalette)
            setOpened(null)
          }}
        >
          Add part
        </Button>
        <Button
          size="xs"
          aria-pressed={isReviewing}
          onClick={() => setOpened(isReviewing ? null : { review: true })}
        >
          Review and apply
        </Button>
        <Button size="xs" variant="default" onClick={session.leave}>
          Close
        </Button>
      </Group>
    </header>
  )
}

/** "3 changes": steps of the draft. */
export const changesWords = (steps: number): string =>
  steps === 0 ? 'No changes' : steps === 1 ? '1 change' : `${steps} changes`

export const ViewSwitch = ({ session }: { session: Pick<Session, 'view' | 'setView'> }) => (
  <SegmentedControl
    size="xs"
    aria-label="How the project is shown"
    value={session.view}
    onChange={session.setView}
    data={[
      { value: 'canvas', label: 'Canvas' },
      { value: 'list', label: 'List' },
    ]}
  />
)

function Act({
  label,
  disabled = false,
  onClick,
  children,
}: {
  label: string
  disabled?: boolean
  onClick: () => void
  children: ReactNode
}) {
  return (
    <ActionIcon variant="default" aria-label={label} title={label} disabled={disabled} onClick={onClick}>
      {children}
    </ActionIcon>
  )
}
