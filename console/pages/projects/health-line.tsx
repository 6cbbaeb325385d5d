/** Whether a project works, and what to do about it. */
import { Anchor, Button, Group, List, Text } from '@mantine/core'
import { CircleAlert, CircleCheck, CirclePause, PencilRuler } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'react-router'
import type { ProjectHealth } from '../../../schemas/types.ts'

const MARKS = {
  working: { Icon: CircleCheck, color: 'var(--mantine-color-teal-text)' },
  attention: { Icon: CircleAlert, color: 'var(--mantine-color-orange-text)' },
  paused: { Icon: CirclePause, color: 'var(--mantine-color-dimmed)' },
  setting_up: { Icon: PencilRuler, color: 'var(--mantine-color-indigo-text)' },
} as const

export function HealthLine({
  health: data,
  detailed = false,
}: {
  health: ProjectHealth
  detailed?: boolean
}) {
  const { Icon, color } = MARKS[data.state]
  // One that is all there is to say is said once.
  const [only, ...more] = data.issues
  const isSaid = detailed && only !== undefined && more.length === 0 && only.message === data.message
  return (
    <div>
      <Group gap={6} wrap="nowrap">
        <Icon size={16} color={color} aria-hidden style={{ flexShrink: 0 }} />
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {data.message}
          {isSaid && (
            <>
              {'. '}
              <Anchor component={Link} to={only.view} size="sm">
                {only.fix}
              </Anchor>
            </>
          )}
        </Text>
      </Group>
      {detailed && !isSaid && data.issues.length > 0 && <Issues issues={data.issues} />}
    </div>
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
            {issue.message}.{' '}
            <Anchor component={Link} to={issue.view} size="sm">
              {issue.fix}
            </Anchor>
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
