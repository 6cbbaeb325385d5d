/** Credentials of GitHub, stored once: whose they are, what uses them, and whether GitHub takes them. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import type { StoredCredential } from '../../../../schemas/types.ts'
import { CREDENTIALS, credentials } from '../../../credentials-client.ts'
import { Empty, Failed, LoadingRows } from '../../../parts/states.tsx'
import { CredentialCard } from './credential-card.tsx'
import { CredentialForm } from './credential-form.tsx'

export function Credentials() {
  const { data, error, isPending, refetch } = useQuery({ queryKey: CREDENTIALS, queryFn: credentials.list })
  const [edited, setEdited] = useState<StoredCredential | 'new' | null>(null)
  if (isPending) return <LoadingRows rows={3} />
  if (error) return <Failed what="credentials" error={error} onRetry={() => void refetch()} />
  const stored = data.credentials
  const add = (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setEdited('new')}>
      Add credential
    </Button>
  )
  return (
    <Stack maw={980}>
      {stored.length > 0 && (
        <Group justify="space-between">
          <Text size="sm" c="dimmed" maw={620}>
            Sources, MCP servers and agents name a credential. A rotated one is used from their next poll and
            run on.
          </Text>
          {add}
        </Group>
      )}
      {stored.length === 0 && (
        <Empty title="No GitHub credential yet">
          <Text c="dimmed" maw={520}>
            Store a token or an app once, and name it in sources that read repositories, in MCP servers and in
            agents. Rotating it is then one change, here.
          </Text>
          {add}
        </Empty>
      )}
      {stored.map((one) => (
        <CredentialCard key={one.name} credential={one} onRotate={() => setEdited(one)} />
      ))}
      {edited && <CredentialForm stored={edited === 'new' ? null : edited} onClose={() => setEdited(null)} />}
    </Stack>
  )
}
