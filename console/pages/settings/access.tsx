/** Who may do what: how this instance is reached, and its API keys. */
import { Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api, keys } from '../../client.ts'
import { ApiKeys } from '../keys/api-keys.tsx'
import { SignedInClients } from './signed-in-clients.tsx'
import { UnreadableSecrets } from './unreadable-secrets.tsx'

export function Access() {
  const { data } = useQuery({ queryKey: keys.apiKeys, queryFn: api.keys })
  return (
    <Stack gap="xl">
      <ApiKeys
        head={(action) => (
          <Stack mb="md" gap="md">
            <UnreadableSecrets />
            <Group justify="space-between" gap="sm">
              <Text size="sm" c="dimmed" maw={620}>
                {data?.enforced
                  ? 'Every call needs a credential. The root token is the operator’s login; producers, agents and scripts get a key with no more scopes than they need.'
                  : 'Keys for producers, agents and scripts, with no more scopes than each needs.'}
              </Text>
              {action}
            </Group>
          </Stack>
        )}
      />
      {data?.enforced && <SignedInClients />}
    </Stack>
  )
}
