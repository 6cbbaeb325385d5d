/** `svc login` in the browser: which machine asks, what it may do, and the person's word. */
import { Alert, Button, Group, Paper, Radio, Stack, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { ShieldAlert } from 'lucide-react'
import { useState } from 'react'
import { useSearchParams } from 'react-router'
import { loginMark } from '../../../schemas/login-words.ts'
import { api } from '../../client.ts'
import { connect } from '../../connect-client.ts'
import { ACCESS, type Access, declineUrl, type LoginAsk, readLoginAsk } from '../../lib/login-ask.ts'
import { PageHead } from '../../parts/page.tsx'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'
import { Handover } from './handover.tsx'

export default function ApproveLoginPage() {
  const [query] = useSearchParams()
  const asked = readLoginAsk(query)
  const who = useQuery({ queryKey: ['whoami'], queryFn: api.whoami })
  return (
    <>
      <PageHead title="Log in a machine" />
      {asked === null ? (
        <Empty title="No login is waiting for approval">
          <Text c="dimmed" maw={520}>
            This page is opened by a command. Run <code>svc login {window.location.origin}</code> on the
            machine that should have a key, and follow the address it prints.
          </Text>
        </Empty>
      ) : who.isPending ? (
        <LoadingRows rows={3} />
      ) : who.error ? (
        <Failed what="who is logged in" error={who.error} onRetry={() => void who.refetch()} />
      ) : who.data.scopes.includes('admin') ? (
        <Approval key={asked.ask.challenge} {...asked} who={who.data} />
      ) : (
        <Alert color="yellow" title="You cannot create keys" maw={620}>
          You are logged in as {who.data.name}, which has the scope {who.data.scopes.join(', ')}. Log in as an
          admin to approve, or ask one for a key.
        </Alert>
      )}
    </>
  )
}

function Approval({
  ask,
  proposed,
  who,
}: {
  ask: LoginAsk
  proposed: Access
  who: { id: string; name: string }
}) {
  const [access, setAccess] = useState<Access>(proposed)
  const [declined, setDeclined] = useState(false)
  const approve = useMutation({
    mutationFn: () =>
      connect.approveLogin({ ...ask, scopes: ACCESS.find(({ value }) => value === access)!.scopes }),
    onSuccess: ({ redirect }) => {
      if (redirect !== null) window.location.assign(redirect)
    },
  })
  const decline = (): void => {
    setDeclined(true)
    if (ask.port !== null) window.location.assign(declineUrl(ask.port, ask.state))
  }
  if (declined)
    return (
      <Alert color="gray" title="Declined" role="status" maw={620}>
        {ask.machine} got nothing. You can close this page.
      </Alert>
    )
  if (approve.data) return <Handover approved={approve.data} machine={ask.machine} />
  return (
    <Paper withBorder radius="md" p="lg" maw={620}>
      <Stack>
        <Text>
          <strong>{ask.machine}</strong> asks for a key to this instance.
        </Text>
        <Alert color="indigo" icon={<ShieldAlert size={18} aria-hidden />} title="Did you start this?">
          Approve only if you have just run <code>svc login</code> yourself and your terminal shows{' '}
          <strong className="mono" style={{ fontSize: '1.15em', whiteSpace: 'nowrap' }}>
            {loginMark(ask.challenge)}
          </strong>
          . Nobody else has a reason to send you this page.
        </Alert>
        {who.id === 'open' && (
          <Text size="sm" c="dimmed">
            This instance is open: the key is kept, and checked once the instance runs with{' '}
            <code style={{ whiteSpace: 'nowrap' }}>--auth</code>.
          </Text>
        )}
        <Radio.Group
          label="What the machine may do"
          value={access}
          onChange={(value) => setAccess(value as Access)}
        >
          <Stack gap="xs" mt={6}>
            {ACCESS.map(({ value, label, description }) => (
              <Radio key={value} value={value} label={label} description={description} />
            ))}
          </Stack>
        </Radio.Group>
        <Text size="sm" c="dimmed">
          {ask.port === null
            ? 'You get a code to paste into the terminal.'
            : `The key goes to the command that waits on this computer, at 127.0.0.1:${ask.port}.`}{' '}
          {who.id === 'open' ? '' : `The key is made in the name of ${who.name}. `}You can revoke it under API
          keys.
        </Text>
        {approve.error && (
          <Alert color="red" role="alert" title="Couldn’t approve the login">
            {approve.error.message}
          </Alert>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={decline}>
            Decline
          </Button>
          <Button loading={approve.isPending} onClick={() => approve.mutate()}>
            Approve
          </Button>
        </Group>
      </Stack>
    </Paper>
  )
}
