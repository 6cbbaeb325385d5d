/** Whether a project works, and what to do about it. */
import { Anchor, Button, Group, List, Text } from '@mantine/core'
import { CircleAlert, CircleCheck, CirclePause, PencilRuler } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'react-router'
import type { ProjectHealth } from '../../../schemas/types.ts'
import { withLocalTimes } from '../../lib/time.ts'
import { useIsNoModelSaid } from '../../parts/shell.tsx'

const MARKS = {
  working: { Icon: CircleCheck, color: 'var(--mantine-color-teal-text)' },
  attention: { Icon: CircleAlert, color: 'var(--mantine-color-orange-text)' },
  paused: { Icon: CirclePause, color: 'var(--mantine-color-dimmed)' },
  setting_up: { Icon: PencilRuler, color: 'var(--mantine-color-indigo-text)' },
} as const

/** Where a missing model provider is mended, by which its issue is known. */
const PROVIDERS = '/settings?tab=providers'

export function HealthLine({
  health: data,
  detailed = false,
}: {
  health: ProjectHealth
  detailed?: boolean
}) {
  const { Icon, color } = MARKS[data.state]
  const isNoModelSaid = useIsNoModelSaid()
  // Neither is said twice on a page: what the banner over it says, and one that is all there is to say.
  const issues = data.issues.filter(({ view }) => !isNoModelSaid || view !== PROVIDERS)
  const [only, ...more] = issues
  if (detailed && only === undefined && data.issues.length > 0) return null
  const isSaid = detailed && only !== undefined && more.length === 0
  const isFewer = detailed && issues.length < data.issues.length
  const counted = isFewer ? `${issues.length} things need attention` : data.message
  return (
    <div>
      <Group gap={6} wrap="nowrap">
        <Icon size={16} color={color} aria-hidden style={{ flexShrink: 0 }} />
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {isSaid ? <IssueText {...only} /> : withLocalTimes(counted, Date.now())}
        </Text>
      </Group>
      {detailed && more.length > 0 && <Issues issues={issues} />}
    </div>
  )
}

function IssueText({ message, view, fix }: ProjectHealth['issues'][number]) {
  return (
    <>
      {withLocalTimes(message, Date.now())}.{' '}
      <Anchor component={Link} to={view} size="sm">
        {fix}
      </Anchor>
    </>
  )
}

/** More would push away what the page is about. */
const SHOWN_MAX = 5

function Issues({ issues }: { issues: ProjectHealth['issues'] }) {
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? issues : issues.slice(0, SHOWN_MAX)
  return (
    <>
      <List size="sm" mt={4}>
        {shown.map((issue) => (
          <List.Item key={issue.message}>
            <IssueText {...issue} />
          </List.Item>
        ))}
      </List>
      {issues.length > SHOWN_MAX && (
        <Button size="compact-sm" variant="subtle" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Show fewer' : `Show all ${issues.length}`}
        </Button>
      )}
    </>
  )
}
