/** Clients that people signed in by OAuth: who let them, what they may do, and the way to sign them out. */
import { Badge, Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { OauthSession } from '../../../schemas/types.ts'
import { connect } from '../../connect-client.ts'
import { notifications } from '../../lib/notices.ts'
import { Cell, Row, Rows } from '../../parts/rows.tsx'
import { Section } from '../../parts/section.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'

const KEY = ['oauth-sessions']

export function SignedInClients() {
  const { data, error, isPending, refetch } = useQuery({ queryKey: KEY, queryFn: connect.oauthSessions })
  return (
    <Section title="Signed-in clients">
      {isPending && <LoadingRows rows={2} />}
      {error && <Failed what="signed-in clients" error={error} onRetry={() => void refetch()} />}
      {data &&
        (data.sessions.length === 0 ? (
          <Text c="dimmed" size="sm" maw={620}>
            None. A client that cannot send a key opens a page here and asks you to sign it in; the addresses
            are under Settings, Agents.
          </Text>
        ) : (
          <Rows
            label="Signed-in clients"
            columns={[{ name: 'Client', isHead: true }, 'May', 'For', 'Last used', 'Signed in', 'State']}
          >
            {data.sessions.map((session) => (
              <SessionRow key={session.id} session={session} />
            ))}
          </Rows>
        ))}
    </Section>
  )
}

function SessionRow({ session }: { session: OauthSession }) {
  const queries = useQueryClient()
  const [asking, setAsking] = useState(false)
  const { id, client, scopes, resource, last_used_at: used, created_at: created } = session
  const end = useMutation({
    mutationFn: () => connect.endOauthSession(id),
    onSuccess: () => notifications.show({ message: `${client} is signed out` }),
    onError: (error) =>
      notifications.show({ color: 'red', title: 'Couldn’t sign the client out', message: error.message }),
    onSettled: () => {
      setAsking(false)
      return queries.invalidateQueries({ queryKey: KEY })
    },
  })
  return (
    <Row>
      <Cell>{client}</Cell>
      <Cell>
        <Group gap={4}>
          {scopes.map((scope) => (
            <Badge key={scope} variant="default" tt="none" size="sm">
              {scope}
            </Badge>
          ))}
        </Group>
      </Cell>
      <Cell isMono>{resource.replace(/^https?:\/\//, '')}</Cell>
      <Cell>
        <When at={used} />
      </Cell>
      <Cell>
        <When at={created} />
      </Cell>
      <Cell>
        <Button
          size="compact-sm"
          variant="light"
          color="red"
          onClick={() => setAsking(true)}
          aria-label={`Sign ${client} out`}
        >
          Sign out
        </Button>
        <Modal opened={asking} onClose={() => setAsking(false)} title={`Sign ${client} out?`} centered>
          <Stack>
            <Text size="sm">
              The client is refused from now on, until somebody signs it in again. API keys that the client
              made stay.
            </Text>
            <Group justify="flex-end">
              <Button variant="default" onClick={() => setAsking(false)}>
                Cancel
              </Button>
              <Button color="red" loading={end.isPending} onClick={() => end.mutate()}>
                Sign out
              </Button>
            </Group>
          </Stack>
        </Modal>
      </Cell>
    </Row>
  )
}
