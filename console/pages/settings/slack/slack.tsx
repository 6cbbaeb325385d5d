/** Slack: the app, its bot token and signing secret, what its test says, who may do what, and the channels. */
import { Button, Group, List, Paper, Stack, Text, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from 'react-router'
import type { SlackChannelsResult } from '../../../../schemas/types.ts'
import { useChange } from '../../../lib/use-change.ts'
import { Failed, LoadingRows } from '../../../parts/states.tsx'
import { slack, slackKeys } from '../../../slack-client.ts'
import { SlackApp, SlackCheck, SlackConnect, SlackTeamCard } from './slack-app.tsx'
import { SlackPeopleCard } from './slack-people.tsx'
import { SlackSecretCard } from './slack-secret-card.tsx'

export function Slack() {
  const test = useChange((_: undefined) => slack.test(), { failed: 'Couldn’t test Slack' })
  return (
    <Stack maw={980}>
      <Text size="sm" c="dimmed" maw={620}>
        Agents post their findings to the channel they name, and the first message of an incident heads a
        thread that follows it. Buttons act as the person who presses them.{' '}
        <Link to="/deliveries?kind=slack">Deliveries to Slack</Link> shows each post, its attempts and why one
        failed.
      </Text>
      <SlackConnect />
      <SlackApp />
      <SlackSecretCard
        field="token"
        title="Bot token"
        hint="In the Slack app, under OAuth and permissions; begins with xoxb-."
      >
        <Button
          size="xs"
          variant="default"
          loading={test.isPending}
          onClick={() => test.mutate(undefined)}
          aria-label="Test the bot token"
        >
          Test
        </Button>
      </SlackSecretCard>
      <div role="status">{test.data && !test.isPending && <SlackCheck result={test.data} />}</div>
      <SlackSecretCard
        field="secret"
        title="Signing secret"
        hint="In the Slack app, under Basic information. Proves that a request comes from Slack."
      />
      <SlackPeopleCard />
      <SlackTeamCard tested={test.data} />
      <Channels />
    </Stack>
  )
}

function Channels() {
  const queries = useQueryClient()
  const { data, error, isPending, refetch } = useQuery({
    queryKey: slackKeys.channels,
    queryFn: slack.channels,
  })
  const again = useChange((_: undefined) => slack.changed(), {
    failed: 'Couldn’t read the channels',
    onDone: () => void queries.invalidateQueries({ queryKey: slackKeys.channels }),
  })
  return (
    <Paper withBorder p="md" radius="md" component="section" aria-label="Channels">
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} fz="md">
            Channels
          </Title>
          <Button
            size="xs"
            variant="default"
            loading={again.isPending}
            onClick={() => again.mutate(undefined)}
          >
            Read again
          </Button>
        </Group>
        {isPending ? (
          <LoadingRows rows={3} />
        ) : error ? (
          <Failed what="Slack" error={error} onRetry={() => void refetch()} />
        ) : (
          <ChannelList result={data} />
        )}
      </Stack>
    </Paper>
  )
}

function ChannelList({ result: { channels, reason, detail, stale } }: { result: SlackChannelsResult }) {
  return (
    <>
      {reason !== null && (
        <Text size="sm" c={reason === 'no_token' ? 'dimmed' : 'red'}>
          {reason === 'no_token'
            ? 'With a bot token above the channels are listed here.'
            : sentence(detail ?? 'Slack could not be read')}
          {stale ? ' These are the channels of an earlier read.' : ''}
        </Text>
      )}
      {channels.length > 0 && (
        <List size="sm" className="scroll-rows" style={{ maxHeight: 280, overflowY: 'auto' }}>
          {channels.map(({ id, name, is_private, is_member }) => (
            <List.Item key={id}>
              {is_private ? name : `#${name}`}{' '}
              <Text span size="xs" c="dimmed">
                {[id, ...(is_private ? ['private'] : []), ...(is_member ? ['the bot is in it'] : [])].join(
                  ', ',
                )}
              </Text>
            </List.Item>
          ))}
        </List>
      )}
      {channels.length === 0 && reason === null && (
        <Text size="sm" c="dimmed">
          The workspace has no channel that the bot sees.
        </Text>
      )}
    </>
  )
}

const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
