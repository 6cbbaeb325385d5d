/** Which span of time is replayed: the last hour, the last day, or any. */
import { Alert, Button, Group, Menu, Modal, Stack, TextInput } from '@mantine/core'
import { CalendarClock } from 'lucide-react'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { recentReplayPath, spanReplayPath } from '../lib/replay-path.ts'
import { fromLocalInput, toLocalInput } from '../lib/time.ts'

const HOUR_MS = 3_600_000
const RECENT = [
  { label: 'The last hour', ms: HOUR_MS },
  { label: 'The last six hours', ms: 6 * HOUR_MS },
  { label: 'The last day', ms: 24 * HOUR_MS },
]

interface Props {
  project: string
  /** On the button. */
  label: string
  /** What the dialog begins with; absent: the last hour. */
  span?: { from: string; to: string }
}

export function RangePicker({ project, label, span }: Props) {
  const navigate = useNavigate()
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" leftSection={<CalendarClock size={16} aria-hidden />}>
            {label}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {RECENT.map(({ label: of, ms }) => (
            <Menu.Item key={of} onClick={() => void navigate(recentReplayPath(project, ms, Date.now()))}>
              {of}
            </Menu.Item>
          ))}
          <Menu.Item onClick={() => setAsking(true)}>Another span…</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {isAsking && (
        <SpanDialog
          span={span ?? lastHour()}
          onClose={() => setAsking(false)}
          onPick={(from, to) => {
            setAsking(false)
            void navigate(spanReplayPath(project, from, to))
          }}
        />
      )}
    </>
  )
}

function lastHour(): { from: string; to: string } {
  const now = Date.now()
  return { from: new Date(now - HOUR_MS).toISOString(), to: new Date(now).toISOString() }
}

function SpanDialog({
  span,
  onClose,
  onPick,
}: {
  span: { from: string; to: string }
  onClose: () => void
  onPick: (from: string, to: string) => void
}) {
  const [from, setFrom] = useState(toLocalInput(span.from))
  const [to, setTo] = useState(toLocalInput(span.to))
  const [start, end] = [fromLocalInput(from), fromLocalInput(to)]
  const fault =
    start === null || end === null
      ? 'Both times are needed.'
      : Date.parse(start) >= Date.parse(end)
        ? 'The end must be after the start.'
        : null
  return (
    <Modal opened onClose={onClose} title="Time range">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (fault === null) onPick(start!, end!)
        }}
      >
        <Stack>
          <TextInput
            type="datetime-local"
            step={1}
            label="From"
            value={from}
            onChange={(event) => setFrom(event.currentTarget.value)}
            data-autofocus
          />
          <TextInput
            type="datetime-local"
            step={1}
            label="To"
            value={to}
            onChange={(event) => setTo(event.currentTarget.value)}
          />
          {fault && (
            <Alert color="red" role="alert">
              {fault}
            </Alert>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" disabled={fault !== null}>
              Replay it
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
