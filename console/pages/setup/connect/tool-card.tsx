/** Connect, an MCP server: whether it answers, and where its credential is entered. */
import { Anchor, Button, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { Link } from 'react-router'
import type { SetupCheckTool, SetupConnectTool } from '../../../../schemas/types.ts'
import { declared } from '../../../declared-client.ts'
import { useChange } from '../../../lib/use-change.ts'
import { Mark } from '../../../parts/mark.tsx'
import { TestOutcome } from '../../mcp-servers/server-tools.tsx'

export function ToolCard({ tool, check }: { tool: SetupConnectTool; check: SetupCheckTool | undefined }) {
  const test = useChange((_: undefined) => declared.testMcpServer(tool.name), {
    failed: `Couldn’t test ${tool.name}`,
  })
  return (
    <Paper withBorder p="md" radius="md" component="section" aria-label={`MCP server ${tool.name}`}>
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} className="mono" style={{ overflowWrap: 'anywhere' }}>
            {tool.name}
          </Title>
          <Mark tone={check?.state === 'ok' ? 'good' : 'quiet'}>
            {check?.state === 'ok' ? (check.detail ?? 'listed') : 'not tested yet'}
          </Mark>
        </Group>
        <Text size="sm" className="mono" style={{ overflowWrap: 'anywhere' }}>
          {tool.url}
        </Text>
        {tool.needs_token && (
          <Text size="sm" c="dimmed">
            No credential. If the server asks for one,{' '}
            <Anchor
              component={Link}
              to={`/mcp-servers/${encodeURIComponent(tool.name)}`}
              inherit
              underline="always"
            >
              enter it
            </Anchor>{' '}
            first.
          </Text>
        )}
        <Group>
          <Button
            size="xs"
            variant="default"
            loading={test.isPending}
            onClick={() => test.mutate(undefined)}
            aria-label={`Test ${tool.name}`}
          >
            Test
          </Button>
        </Group>
        <TestOutcome result={test.data} isPending={test.isPending} />
      </Stack>
    </Paper>
  )
}
