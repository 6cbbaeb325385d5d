/** Ingest keys of sources that were just made on a secured instance: this is the only time they show. */
import { Alert, Code, Stack, Text } from '@mantine/core'
import type { IngestKeys } from '../../schemas/types.ts'
import { CopyBlock } from './copy.tsx'

export function IngestKeysOnce({ keys }: { keys: IngestKeys }) {
  return (
    <Alert color="yellow" title={keys.length === 1 ? 'Ingest key (shown once)' : 'Ingest keys (shown once)'}>
      <Stack gap="sm">
        <Text size="sm">Senders need a key. Each only writes to its source; revoke it under API keys.</Text>
        {keys.map(({ source, ingest_url, key }) => (
          <Stack key={source} gap={4}>
            <Text size="sm">
              {source}: <Code>{ingest_url}</Code>
            </Text>
            <CopyBlock value={key.secret} label={`Copy the key of ${source}`} />
          </Stack>
        ))}
      </Stack>
    </Alert>
  )
}
