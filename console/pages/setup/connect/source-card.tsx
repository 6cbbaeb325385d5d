/** Connect, a source: where its events go, or what it still needs, and the first of them as it comes. */
import { Alert, Anchor, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import type { SetupCheckSource, SetupConnectSource } from '../../../../schemas/types.ts'
import { api, keys } from '../../../client.ts'
import { curlCommand } from '../../../lib/curl.ts'
import { OWN_WAYS } from '../../../lib/send-ways.ts'
import { sourceState } from '../../../lib/source-words.ts'
import { ago } from '../../../lib/time.ts'
import { CopyBlock } from '../../../parts/copy.tsx'
import { Mark } from '../../../parts/mark.tsx'
import { useNow } from '../../../parts/use-now.ts'
import { HowToSend } from '../../sources/how-to-send.tsx'

interface SourceProps {
  source: SetupConnectSource
  secret: string | null
  check: SetupCheckSource | undefined
}

export function SourceCard({ source, secret, check }: SourceProps) {
  const now = useNow(5_000)
  const url = source.ingest_url && `${window.location.origin}${source.ingest_url}`
  const { data } = useQuery({
    queryKey: keys.source(source.name),
    queryFn: () => api.source(source.name),
    enabled: url !== null,
  })
  // What nobody but its sender can sign is tried by no command of ours; a known sender is told where to set it up.
  const hasOwnWays = OWN_WAYS.has(source.connector) || data?.signed || Boolean(data?.config.preset)
  const page = `/sources/${encodeURIComponent(source.name)}`
  return (
    <Paper withBorder p="md" radius="md" component="section" aria-label={`Source ${source.name}`}>
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} className="mono" style={{ overflowWrap: 'anywhere' }}>
            {source.name}
          </Title>
          <div role="status">
            <Mark {...sourceState(check?.state ?? 'waiting')} />
          </div>
        </Group>
        {url && secret && (
          <Alert color="yellow" title="Ingest key (shown once)">
            <CopyBlock value={secret} label={`Copy the key of ${source.name}`} />
          </Alert>
        )}
        {url && data && hasOwnWays && <HowToSend source={data} token={secret ?? undefined} />}
        {url && data && !hasOwnWays && (
          <>
            <Text size="sm">Send its events to this address.</Text>
            <CopyBlock value={url} label="Copy the ingest URL" />
            {source.sample && (
              <>
                <Text size="sm">Or try it from a terminal:</Text>
                <CopyBlock
                  value={curlCommand({
                    url,
                    ...(secret ? { token: secret } : {}),
                    body: JSON.stringify(source.sample),
                  })}
                  label="Copy the command"
                />
              </>
            )}
          </>
        )}
        {!url && <Text size="sm">{withoutAddress(source, check)}</Text>}
        {/* One that brings events without a credential needs none. */}
        {source.credential_hint && check?.state !== 'receiving' && (
          <Text size="sm" c={source.needs === 'credential' ? 'var(--mantine-color-text)' : 'dimmed'}>
            {source.credential_hint}{' '}
            <Anchor component={Link} to={page} inherit underline="always">
              Open the source
            </Anchor>
          </Text>
        )}
        {check?.state === 'error' && (
          <Alert color="red" title="In error">
            {check.detail}
          </Alert>
        )}
        {check?.last_event_at && (
          <Text size="sm">
            Last event {ago(check.last_event_at, now)}.
            {check.fields_seen.length > 0 && (
              <>
                {' '}
                Fields: <span className="mono">{check.fields_seen.join(', ')}</span>
              </>
            )}
          </Text>
        )}
      </Stack>
    </Paper>
  )
}

/** Of a source that nothing is sent to: what it waits for. */
function withoutAddress({ mode, needs }: SetupConnectSource, check: SetupCheckSource | undefined): string {
  if (mode === 'reference') return 'Its documents are already available.'
  if (needs === 'credential') return 'A credential is missing.'
  return check?.state === 'error' ? 'Polled by svc.' : 'Polled by svc. Nothing to do.'
}
