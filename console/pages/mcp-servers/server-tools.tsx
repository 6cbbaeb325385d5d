/** Tools of an MCP server: what it lists, what changed since that was pinned, and a test of it. */

import { Alert, Button, Group, Modal, Stack, Table, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { PlugZap } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { McpTestedTool, McpTestResult, McpTool } from '../../../schemas/types.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { useChange } from '../../lib/use-change.ts'
import { Mark, type Tone } from '../../parts/mark.tsx'
import { Acts } from '../../parts/may.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { TextDiff } from '../../parts/text-diff.tsx'
import { LIST_FRESH_MS } from '../../parts/use-pages.ts'
import { When } from '../../parts/when.tsx'
import { WideTable } from '../../parts/wide-table.tsx'

export function ServerTools({ server }: { server: string }) {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: dkeys.mcpTools(server),
    queryFn: () => declared.mcpTools(server),
    refetchInterval: LIST_FRESH_MS,
  })
  const test = useChange((_: undefined) => declared.testMcpServer(server), {
    failed: 'Couldn’t test the server',
  })
  const [reviewed, setReviewed] = useState<McpTool | null>(null)
  return (
    <Stack component="section" aria-labelledby="tools" maw={960} mt="xl">
      <Group justify="space-between">
        <Title order={2} id="tools">
          Tools
        </Title>
        <Acts>
          <Button
            variant="default"
            leftSection={<PlugZap size={16} aria-hidden />}
            loading={test.isPending}
            onClick={() => test.mutate(undefined)}
          >
            Test
          </Button>
        </Acts>
      </Group>
      <TestOutcome result={test.data} isPending={test.isPending} />
      {error && <Failed what="tools" error={error} onRetry={() => void refetch()} />}
      {isPending && <LoadingRows rows={3} />}
      {data?.length === 0 && (
        <Text c="dimmed" size="sm">
          No tools known yet. A test connects, lists them and pins their descriptions.
        </Text>
      )}
      {data && data.length > 0 && <KnownTools tools={data} onReview={setReviewed} />}
      {reviewed && <Review server={server} tool={reviewed} onClose={() => setReviewed(null)} />}
    </Stack>
  )
}

/** What came of a test; said aloud as it goes on. */
export function TestOutcome({
  result,
  isPending,
}: {
  result: McpTestResult | undefined
  isPending: boolean
}) {
  return (
    <div role="status">
      {isPending && (
        <Text size="sm" c="dimmed">
          Connecting and listing tools, for at most 20 seconds…
        </Text>
      )}
      {!isPending && result && !result.ok && (
        <Alert color="red" title="Couldn’t list tools">
          {result.error}
        </Alert>
      )}
      {!isPending && result?.ok && (
        <Text size="sm">
          {result.tools.filter(({ state }) => state !== 'gone').length} tools within {result.ms} ms.{' '}
          {result.notes?.join(' ')}
        </Text>
      )}
    </div>
  )
}

const STATES: Record<McpTestedTool['state'], Tone> = {
  pinned: 'good',
  new: 'busy',
  changed: 'bad',
  gone: 'quiet',
}

/** The tools of a server that is not saved, as a test listed them. */
export function ListedTools({ tools }: { tools: readonly McpTestedTool[] }) {
  return (
    <ToolTable>
      {tools.map((tool) => (
        <Table.Tr key={tool.name}>
          <NameAndMark tool={tool} />
          <Table.Td>
            <Mark tone={STATES[tool.state]}>{tool.state}</Mark>
          </Table.Td>
        </Table.Tr>
      ))}
    </ToolTable>
  )
}

function KnownTools({ tools, onReview }: { tools: readonly McpTool[]; onReview: (tool: McpTool) => void }) {
  return (
    <ToolTable>
      {tools.map((tool) => (
        <Table.Tr key={tool.name}>
          <NameAndMark tool={tool} />
          <Table.Td>
            <Stack gap={4} align="flex-start">
              <Mark tone={STATES[tool.state]}>{tool.state}</Mark>
              <Text size="xs" c="dimmed" component="div">
                seen <When at={tool.seen_at} />
              </Text>
              {tool.change && (
                <Button
                  size="compact-xs"
                  variant="default"
                  aria-label={`Review ${tool.name}`}
                  onClick={() => onReview(tool)}
                >
                  Review
                </Button>
              )}
            </Stack>
          </Table.Td>
        </Table.Tr>
      ))}
    </ToolTable>
  )
}

function ToolTable({ children }: { children: ReactNode }) {
  return (
    <WideTable minWidth={480}>
      <Table verticalSpacing="xs" aria-label="Tools">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Tool</Table.Th>
            <Table.Th>May</Table.Th>
            <Table.Th>State</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </WideTable>
  )
}

function NameAndMark({ tool }: { tool: Pick<McpTool, 'name' | 'description' | 'read_only'> }) {
  return (
    <>
      <Table.Td style={{ overflowWrap: 'anywhere' }}>
        <Text size="sm" fw={600} ff="monospace">
          {tool.name}
        </Text>
        <Text size="xs" c="dimmed" lineClamp={3}>
          {tool.description}
        </Text>
      </Table.Td>
      <Table.Td>
        <Mark tone={tool.read_only ? 'quiet' : 'busy'}>{tool.read_only ? 'read' : 'write'}</Mark>
      </Table.Td>
    </>
  )
}

/** The difference between what was pinned and what is said now, to approve or to leave. */
function Review({ server, tool, onClose }: { server: string; tool: McpTool; onClose: () => void }) {
  const approve = useChange((hash: string) => declared.approveMcpTool(server, tool.name, hash), {
    failed: `Couldn’t approve ${tool.name}`,
    said: () => `${tool.name} is approved`,
    onDone: onClose,
  })
  const change = tool.change!
  const mark = (is: boolean) => (is ? 'Declared read-only.' : 'May write.')
  return (
    <Modal opened onClose={onClose} title={`${tool.name} has changed`} size="xl">
      <Stack>
        <Text size="sm">
          Agents are not offered it until the change is approved. A description is an instruction to the
          model: approve only what the tool should say.
        </Text>
        {tool.read_only !== change.read_only && (
          <TextDiff title="What it may do" from={mark(tool.read_only)} to={mark(change.read_only)} />
        )}
        <TextDiff title="Description" from={tool.description} to={change.description} />
        <TextDiff
          title="Arguments"
          from={JSON.stringify(tool.input, null, 2)}
          to={JSON.stringify(change.input, null, 2)}
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Acts>
            <Button loading={approve.isPending} onClick={() => approve.mutate(change.hash)}>
              Approve
            </Button>
          </Acts>
        </Group>
      </Stack>
    </Modal>
  )
}
