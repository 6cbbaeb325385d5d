/** Which client connects, and how it reaches svc. */
import { Paper, Radio, SegmentedControl, SimpleGrid, Stack, Text } from '@mantine/core'
import { CLIENTS, type Client, type Via } from '../../lib/connect-snippets.ts'

const VIA: Record<Via, { label: string; meaning: string }> = {
  stdio: { label: 'stdio', meaning: 'The client starts svc mcp itself, on its own machine.' },
  http: { label: 'HTTP', meaning: 'svc mcp runs once and serves many clients.' },
}

export function ClientChoice({
  client,
  via,
  onClient,
  onVia,
}: {
  client: Client
  via: Via
  onClient: (client: Client) => void
  onVia: (via: Via) => void
}) {
  const offered = CLIENTS.find(({ value }) => value === client)!.via
  return (
    <Stack>
      <Radio.Group label="Which client" value={client} onChange={(value) => onClient(value as Client)}>
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" mt={6}>
          {CLIENTS.map(({ value, label, description }) => (
            <Paper key={value} withBorder radius="md" p="xs">
              <Radio value={value} label={label} description={description} />
            </Paper>
          ))}
        </SimpleGrid>
      </Radio.Group>
      <div>
        <Text size="sm" fw={600} mb={4} id="connect-via">
          How it reaches svc
        </Text>
        <SegmentedControl
          aria-labelledby="connect-via"
          value={via}
          onChange={(value) => onVia(value as Via)}
          data={(['stdio', 'http'] as const).map((value) => ({
            value,
            label: VIA[value].label,
            disabled: !offered.includes(value),
          }))}
        />
        <Text size="sm" c="dimmed" mt={4}>
          {VIA[via].meaning}
        </Text>
      </div>
    </Stack>
  )
}
