/** Connect, the person's own agent: its key, once, and what to add to it. */
import { Alert, Anchor, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { Link } from 'react-router'
import type { SetupCheckAgent, SetupConnectAgent } from '../../../../schemas/types.ts'
import { snippetOf } from '../../../lib/connect-snippets.ts'
import { CopyBlock } from '../../../parts/copy.tsx'
import { Mark } from '../../../parts/mark.tsx'

interface AgentProps {
  agent: SetupConnectAgent
  secret: string | null
  check: SetupCheckAgent | null
  project: string
}

export function AgentCard({ agent, secret, check, project }: AgentProps) {
  const { text, place } = snippetOf('terminal', 'stdio', {
    svcd: window.location.origin,
    mcp: agent.mcp_url,
    // On an open instance the key still says whose findings they are.
    key: secret ?? '<its key>',
  })
  return (
    <Paper withBorder p="md" radius="md" component="section" aria-label="Your own agent">
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} className="mono" style={{ overflowWrap: 'anywhere' }}>
            {agent.name}
          </Title>
          <div role="status">
            <Mark tone={check?.state === 'joined' ? 'good' : 'quiet'}>
              {check?.state === 'joined' ? 'joined' : 'waiting for it'}
            </Mark>
          </div>
        </Group>
        {secret ? (
          <Alert color="yellow" title="Key (shown once)">
            <CopyBlock value={secret} label="Copy the key" />
          </Alert>
        ) : (
          <Text size="sm" c="dimmed">
            Its key was shown when the plan was applied.{' '}
            <Anchor component={Link} to={`/projects/${project}?tab=settings`} inherit underline="always">
              Make another
            </Anchor>
            , if it is lost.
          </Text>
        )}
        <Text size="sm">Add svc to it, in {place}:</Text>
        <CopyBlock value={text} label="Copy the settings" />
        <Text size="sm">{agent.subscribe_hint}</Text>
        {check?.detail && (
          <Text size="sm" c="dimmed">
            {check.detail}
          </Text>
        )}
      </Stack>
    </Paper>
  )
}
