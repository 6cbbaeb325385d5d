/** Secured mode: a token for a session cookie. */
import { Button, Center, Paper, PasswordInput, Stack, Text, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import { type FormEvent, useState } from 'react'
import { api } from '../../client.ts'

const ENDED = 'You were logged out: the session ended, or its key was revoked'

interface Props {
  note: string
  /** Who was logged in is asked again. */
  isEnded: boolean
  onDone: () => void
}

export function LoginPage({ note, isEnded, onDone }: Props) {
  useDocumentTitle('Log in · svc')
  const [token, setToken] = useState('')
  const [error, setError] = useState(isEnded ? ENDED : note)
  const [busy, setBusy] = useState(false)
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault()
    setBusy(true)
    try {
      await api.login(token.trim())
      onDone()
    } catch (refusal) {
      setError((refusal as Error).message)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Center component="main" mih="90vh" p="md">
      <Paper withBorder shadow="sm" p="xl" radius="lg" w={420} maw="100%">
        <form onSubmit={(event) => void submit(event)}>
          <Stack>
            <Title order={1}>Log in to svc</Title>
            <Text size="sm" c="dimmed">
              This instance is secured. Paste the root token, or an API key. The daemon prints a login address
              when it starts with --auth.
            </Text>
            <PasswordInput
              label="Token"
              value={token}
              onChange={(event) => setToken(event.currentTarget.value)}
              error={error || undefined}
              autoComplete="current-password"
              data-autofocus
              autoFocus
              required
            />
            <Button type="submit" loading={busy} disabled={token.trim() === ''}>
              Log in
            </Button>
          </Stack>
        </form>
      </Paper>
    </Center>
  )
}
