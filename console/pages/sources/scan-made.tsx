/** The sources a scan made, and whether their first events come. */

import { Anchor, Button, Group, Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { api, keys } from '../../client.ts'
import { count } from '../../lib/time.ts'
import { PageHead } from '../../parts/page.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { WideTable } from '../../parts/wide-table.tsx'
import { HealthMark } from './health-mark.tsx'

const LOOK_AGAIN_MS = 1_500

export function ScanMade({ names }: { names: readonly string[] }) {
  const { data, error, refetch } = useQuery({
    queryKey: keys.sources,
    queryFn: api.sources,
    refetchInterval: LOOK_AGAIN_MS,
  })
  const made = data?.filter((source) => names.includes(source.name))
  return (
    <>
      <PageHead title={names.length === 1 ? '1 source is made' : `${names.length} sources are made`} />
      <Stack maw={900}>
        <Text c="dimmed">Logs begin with the lines of the last 30 seconds.</Text>
        {error && <Failed what="sources" error={error} onRetry={() => void refetch()} />}
        {!made && !error && <LoadingRows rows={names.length} />}
        {made && (
          <WideTable minWidth={0}>
            <Table aria-label="Sources made">
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Source</Table.Th>
                  <Table.Th>Health</Table.Th>
                  <Table.Th ta="right">Events</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {made.map((source) => (
                  <Table.Tr key={source.name}>
                    <Table.Td>
                      <Anchor component={Link} to={`/sources/${encodeURIComponent(source.name)}`} size="sm">
                        {source.name}
                      </Anchor>
                    </Table.Td>
                    <Table.Td>
                      <HealthMark source={source} />
                    </Table.Td>
                    <Table.Td ta="right">{count(source.health.events_total)}</Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </WideTable>
        )}
        <Group>
          <Button component={Link} to="/explore">
            Open Explore
          </Button>
          <Button component={Link} to="/sources" variant="default">
            All sources
          </Button>
        </Group>
      </Stack>
    </>
  )
}
