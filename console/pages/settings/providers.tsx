/** Model providers: where the credential of each is from, which is the default, and whether it answers. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import type { ModelProvider } from '../../../schemas/types.ts'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'
import { settings, skeys } from '../../settings-client.ts'
import { ProviderCard } from './provider-card.tsx'
import { ProviderForm } from './provider-form.tsx'

export function Providers() {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: skeys.providers,
    queryFn: settings.providers,
  })
  const [edited, setEdited] = useState<ModelProvider | 'new' | null>(null)
  if (isPending) return <LoadingRows />
  if (error) return <Failed what="model providers" error={error} onRetry={() => void refetch()} />
  const { providers, kinds } = data
  const kindWords = (kind: string) => kinds.find(({ id }) => id === kind)?.label ?? kind
  const known = providers.filter(({ configured, stored, source }) => configured || stored || source)
  const add = (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setEdited('new')}>
      Add provider
    </Button>
  )
  return (
    <Stack maw={980}>
      <Group justify="space-between">
        <Text size="sm" c="dimmed" maw={620}>
          Agents call the default provider, unless they name another. What is stored here wins over the
          environment.
        </Text>
        {known.length > 0 && add}
      </Group>
      {known.length === 0 && (
        <Empty title="No model provider yet">
          <Text c="dimmed" maw={520}>
            Agents need a model to work with. Give a key of a provider, or the address of any endpoint that
            speaks chat completions.
          </Text>
          {add}
        </Empty>
      )}
      {known.map((provider) => (
        <ProviderCard
          key={provider.id}
          provider={provider}
          kind={kindWords(provider.kind)}
          // Of one alone, taking its choice back would change nothing.
          isChosen={provider.default && data.default_source === 'console' && known.length > 1}
          onEdit={() => setEdited(provider)}
        />
      ))}
      {edited && (
        <ProviderForm
          stored={edited === 'new' ? null : edited}
          kinds={kinds}
          onClose={() => setEdited(null)}
        />
      )}
    </Stack>
  )
}
