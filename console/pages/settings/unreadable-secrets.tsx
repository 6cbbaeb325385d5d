/** Which stored secrets secret.key does not open, after a restore without it, and what to do. */
import { Alert, List, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { CircleAlert } from 'lucide-react'
import { api, keys } from '../../client.ts'

/** An alert while there are some; the header's health query is shared, so nothing more is asked. */
export function UnreadableSecrets() {
  const { data } = useQuery({ queryKey: keys.health, queryFn: ({ signal }) => api.health(signal) })
  const names = data?.unreadable_secrets ?? []
  if (names.length === 0) return null
  return (
    <Alert
      color="yellow"
      icon={<CircleAlert size={18} aria-hidden />}
      title={
        names.length === 1
          ? 'A stored secret cannot be opened'
          : `${names.length} stored secrets cannot be opened`
      }
    >
      <Text size="sm">
        These were stored with another <code>secret.key</code>. Stop the daemon and put that file back beside
        the data, or enter each again where it is set:
      </Text>
      <List size="sm" mt="xs">
        {names.map((name) => (
          <List.Item key={name}>{name}</List.Item>
        ))}
      </List>
    </Alert>
  )
}
