/** The Slack app: its manifest, what the test of its token found, and the workspace that requests are taken of. */
import { Alert, Anchor, Button, Code, Group, List, Paper, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { SlackManifest, SlackTested } from '../../../../schemas/types.ts'
import { api, keys } from '../../../client.ts'
import { useChange } from '../../../lib/use-change.ts'
import { CopyBlock } from '../../../parts/copy.tsx'
import { Fold } from '../../../parts/fold.tsx'
import { Failed, LoadingRows } from '../../../parts/states.tsx'
import { When } from '../../../parts/when.tsx'
import { slack, slackKeys } from '../../../slack-client.ts'

/** A hosted workspace connects Slack for its instances. */
export function SlackConnect() {
  const { data } = useQuery({ queryKey: keys.health, queryFn: () => api.health() })
  if (!data?.slack_connect_url) return null
  return (
    <Group>
      <Button component="a" href={data.slack_connect_url}>
        Connect Slack
      </Button>
    </Group>
  )
}

/** The manifest, for Slack to make the app of. */
export function SlackApp() {
  return (
    <Paper withBorder p="md" radius="md" component="section" aria-label="Slack app">
      <Stack gap="sm">
        <Title order={2} fz="md">
          Slack app
        </Title>
        <Text size="sm">
          Under{' '}
          <Anchor
            href="https://api.slack.com/apps?new_app=1"
            target="_blank"
            rel="noreferrer"
            underline="always"
          >
            Your apps
          </Anchor>{' '}
          choose “From a manifest”, paste this, and install the app. Then enter its bot token and signing
          secret below.
        </Text>
        <Fold title="The manifest">
          <OfManifest>
            {({ manifest, request_url }) => (
              <>
                {request_url === null && (
                  <Alert color="yellow" p="xs" mb="sm">
                    SVC_PUBLIC_URL is not set: put the address of this instance in place of svc.example.com.
                  </Alert>
                )}
                <CopyBlock value={JSON.stringify(manifest, null, 2)} label="Copy the manifest" />
              </>
            )}
          </OfManifest>
        </Fold>
        <Fold title="Why it asks for each scope">
          <OfManifest>
            {({ scopes }) => (
              <List size="sm">
                {scopes.map(({ scope, why }) => (
                  <List.Item key={scope}>
                    <Code>{scope}</Code> {why}
                  </List.Item>
                ))}
              </List>
            )}
          </OfManifest>
        </Fold>
      </Stack>
    </Paper>
  )
}

/** Read once one of its folds is opened: most who come here have the app. */
function OfManifest({ children }: { children: (read: SlackManifest) => ReactNode }) {
  const { data, error, refetch } = useQuery({ queryKey: slackKeys.manifest, queryFn: slack.manifest })
  if (error) return <Failed what="the manifest" error={error} onRetry={() => void refetch()} />
  return data ? children(data) : <LoadingRows rows={2} />
}

/** What Slack says of the token, and what is missing. */
export function SlackCheck({ result }: { result: SlackTested }) {
  if (!result.ok)
    return (
      <Alert color="red" p="xs" title="Slack rejects the token">
        <Text size="sm">{result.error}</Text>
      </Alert>
    )
  const { missing_scopes: scopes = [], people_not_found: people = [] } = result
  const lacks = [
    ...scopes.map(({ scope, why }) => `Without the scope ${scope}: not ${why}`),
    ...(result.signing_secret === false
      ? ['No signing secret is set: buttons, mentions and the command do not work']
      : []),
    ...(result.request_url === null ? ['SVC_PUBLIC_URL is not set: messages have no links'] : []),
    ...(people.length ? [`Not found in the workspace: ${people.join(', ')}`] : []),
  ]
  return (
    <Alert color={lacks.length ? 'yellow' : 'teal'} p="xs" title="Slack accepts the token">
      <Stack gap={4}>
        <Text size="sm">
          Bot {result.bot ?? ''} of the workspace {result.team}
        </Text>
        {result.request_url && (
          <Text size="sm">
            Slack sends to <Code>{result.request_url}</Code>:{' '}
            {result.heard_at ? (
              <>
                heard <When at={result.heard_at} />
              </>
            ) : (
              'nothing was heard since the start'
            )}
          </Text>
        )}
        {lacks.length > 0 && (
          <List size="sm">
            {lacks.map((one) => (
              <List.Item key={one}>{one}</List.Item>
            ))}
          </List>
        )}
      </Stack>
    </Alert>
  )
}

/** @param tested what the test found; absent: it was not made */
export function SlackTeamCard({ tested }: { tested: SlackTested | undefined }) {
  const { data, error, refetch } = useQuery({ queryKey: slackKeys.team, queryFn: slack.team })
  const bind = useChange(
    (_: undefined) => slack.bindTeam({ team_id: tested!.team_id!, team_name: tested!.team! }),
    {
      failed: 'Couldn’t bind the workspace',
    },
  )
  const forget = useChange((_: undefined) => slack.forgetTeam(), {
    failed: 'Couldn’t accept requests of all workspaces',
  })
  // Its place is kept while it is read.
  if (!data)
    return (
      <Paper withBorder p="md" radius="md" mih={78}>
        {error && <Failed what="the workspace" error={error} onRetry={() => void refetch()} />}
      </Paper>
    )
  return (
    <Paper withBorder p="md" radius="md" mih={78} component="section" aria-label="Workspace">
      <Group justify="space-between">
        <Stack gap={2}>
          <Title order={2} fz="md">
            Workspace
          </Title>
          <Text size="sm" c="dimmed">
            {data.team_id
              ? `Only ${data.team_name} (${data.team_id}) can use buttons, mentions and commands.`
              : 'Every workspace with the app can use buttons, mentions and commands.'}
          </Text>
        </Stack>
        {data.team_id ? (
          <Button
            size="xs"
            variant="default"
            loading={forget.isPending}
            onClick={() => forget.mutate(undefined)}
          >
            Accept all workspaces
          </Button>
        ) : (
          tested?.ok &&
          tested.team_id && (
            <Button
              size="xs"
              variant="default"
              loading={bind.isPending}
              onClick={() => bind.mutate(undefined)}
            >
              Take those of {tested.team} alone
            </Button>
          )
        )}
      </Group>
    </Paper>
  )
}
