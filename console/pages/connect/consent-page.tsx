/**
 * The consent page of OAuth: which client asks, for what, and where the answer goes. Nothing leaves the page before the
 * person decides, a refusal neither: clients register by themselves. What a client says of itself is text, as React
 * writes it.
 */
import { Alert, Button, Checkbox, Group, Paper, Stack, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { ShieldAlert } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'react-router'
import type { OauthRequest } from '../../../schemas/types.ts'
import { api } from '../../client.ts'
import { connect } from '../../connect-client.ts'
import { scopeWords } from '../../lib/oauth-words.ts'
import { PageHead } from '../../parts/page.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'

export default function ConsentPage() {
  const query = useLocation().search.slice(1)
  const who = useQuery({ queryKey: ['whoami'], queryFn: api.whoami })
  const asked = useQuery({
    queryKey: ['oauth-request', query],
    queryFn: () => connect.oauthRequest(query),
    retry: false,
  })
  return (
    <>
      <PageHead title="Sign a client in" />
      {asked.isPending || who.isPending ? (
        <LoadingRows rows={3} />
      ) : asked.error || who.error ? (
        <Failed
          what="what the client asks for"
          error={(asked.error ?? who.error)!}
          onRetry={() => void asked.refetch()}
        />
      ) : asked.data.problem ? (
        <Refused asked={asked.data} query={query} />
      ) : (
        <Consent
          key={query}
          asked={asked.data}
          query={query}
          who={who.data.id === 'env:auth' ? 'the operator' : who.data.name}
        />
      )}
    </>
  )
}

function Refused({ asked, query }: { asked: OauthRequest; query: string }) {
  const decline = useMutation({
    mutationFn: () => connect.decideOauth({ query, allow: true }),
    onSuccess: go,
  })
  return (
    <Alert color="red" title="This client cannot be signed in" role="alert" maw={620}>
      <Stack>
        <Text size="sm">
          {asked.client ? `${asked.client.name}: ` : ''}
          {asked.problem!.detail}.
        </Text>
        {asked.redirect_host !== null && (
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            The refusal goes to <span className="mono">{asked.redirect_host}</span>.
          </Text>
        )}
        {asked.redirect_host !== null && (
          <Group>
            <Button variant="default" loading={decline.isPending} onClick={() => decline.mutate()}>
              Go back to the client
            </Button>
          </Group>
        )}
      </Stack>
    </Alert>
  )
}

const go = ({ redirect }: { redirect: string }): void => window.location.assign(redirect)

function Consent({ asked, query, who }: { asked: OauthRequest; query: string; who: string }) {
  const { client, kind, resource, scopes, offered, redirect_host: host, is_loopback: isHere } = asked
  const [granted, setGranted] = useState<string[]>(scopes)
  const [declined, setDeclined] = useState(false)
  const decide = useMutation({
    mutationFn: (allow: boolean) =>
      connect.decideOauth({ query, allow, ...(allow ? { scopes: granted } : {}) }),
    onSuccess: (answer, allow) => {
      if (!allow) setDeclined(true)
      go(answer)
    },
  })
  if (decide.isSuccess)
    return (
      <Alert color="gray" title={declined ? 'Declined' : 'Allowed'} role="status" maw={620}>
        {declined ? `${client!.name} got nothing.` : `${client!.name} goes on by itself.`} You can close this
        page.
      </Alert>
    )
  return (
    <Paper withBorder radius="md" p="lg" maw={620}>
      <Stack>
        <Text style={{ overflowWrap: 'anywhere' }}>
          <strong>{client!.name}</strong>
          {client!.host !== null && (
            <>
              {' '}
              of <strong className="mono">{client!.host}</strong>
            </>
          )}{' '}
          asks to use{' '}
          {kind === 'telemetry' ? 'the telemetry of this instance' : 'the MCP server of this instance'} in
          your name.
        </Text>
        <Alert color="indigo" icon={<ShieldAlert size={18} aria-hidden />} title="Did you start this?">
          A client chooses its own name
          {client!.host === null ? '' : isHere ? ', and any program can say that it is of that host' : ''}.
          Allow only if you have just connected it yourself, and know where the answer goes:{' '}
          <strong className="mono" style={{ overflowWrap: 'anywhere' }}>
            {host}
          </strong>
          {isHere ? ', a program on your own computer.' : '.'}
        </Alert>
        <fieldset style={{ border: 0, margin: 0, padding: 0 }}>
          <Text component="legend" size="sm" fw={600} mb={6}>
            What the client may do
          </Text>
          <Stack gap="xs">
            {[...scopes, ...offered].map((scope) => {
              const isFixed = scope === 'read'
              return (
                <Checkbox
                  key={scope}
                  {...scopeWords(kind, scope)}
                  checked={granted.includes(scope)}
                  onChange={({ currentTarget: { checked } }) =>
                    setGranted((now) => (checked ? [...now, scope] : now.filter((one) => one !== scope)))
                  }
                  disabled={isFixed}
                  // What all of it is for: shown, not chosen.
                  {...(isFixed ? { styles: { label: { color: 'var(--mantine-color-text)' } } } : {})}
                />
              )
            })}
          </Stack>
        </fieldset>
        {granted.includes('admin') && (
          <Alert color="yellow" title="A client with this may change and delete everything">
            Text of events reaches the client too, and may try to steer it. Allow it only where a person
            confirms each call.
          </Alert>
        )}
        <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          For <span className="mono">{resource}</span>, as {who}. You can sign the client out in Settings,
          Access and API keys.
        </Text>
        {decide.error && (
          <Alert color="red" role="alert" title="Couldn’t answer the client">
            {decide.error.message}
          </Alert>
        )}
        <Group justify="flex-end">
          <Button variant="default" disabled={decide.isPending} onClick={() => decide.mutate(false)}>
            Decline
          </Button>
          <Button loading={decide.isPending} onClick={() => decide.mutate(true)}>
            Allow
          </Button>
        </Group>
      </Stack>
    </Paper>
  )
}
