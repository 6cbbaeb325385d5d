/** One model provider: what it is, a test that says what fails, the models it lists, and what can be done. */
import { Alert, Autocomplete, Button, Group, Modal, Paper, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { countWords } from '../../../schemas/plain-words.ts'
import type { ModelProvider } from '../../../schemas/types.ts'
import { addressWords, originWords, testWords } from '../../lib/model-settings.ts'
import { useChange } from '../../lib/use-change.ts'
import { Fold } from '../../parts/fold.tsx'
import { Mark } from '../../parts/mark.tsx'
import { settings } from '../../settings-client.ts'
import { DefaultModel } from './default-model.tsx'

interface Props {
  provider: ModelProvider
  /** Its kind in words. */
  kind: string
  /** It is the default because a person chose it here. */
  isChosen: boolean
  onEdit: () => void
}

export function ProviderCard({ provider, kind, isChosen, onEdit }: Props) {
  const { id, name, configured, stored, editable } = provider
  const choose = useChange((_: undefined) => settings.chooseProvider(id), {
    failed: `Couldn’t make ${name} the default`,
    said: () => `${name} is the default`,
  })
  const [deleting, setDeleting] = useState(false)
  return (
    <Paper withBorder p="md" radius="md" component="section" aria-label={name}>
      <Stack gap="sm">
        <Group justify="space-between">
          <Group gap="xs">
            <Title order={2} fz="md">
              {name}
            </Title>
            {kind !== name && (
              <Text size="sm" c="dimmed">
                {kind}
              </Text>
            )}
            {provider.default && <Mark tone="good">default</Mark>}
            {!configured && <Mark tone="bad">cannot be called</Mark>}
          </Group>
          <Group gap="xs">
            {!provider.default && configured && (
              <Button
                size="xs"
                variant="default"
                loading={choose.isPending}
                onClick={() => choose.mutate(undefined)}
                aria-label={`Make ${name} the default`}
              >
                Make default
              </Button>
            )}
            {isChosen && <TakeBack name={name} />}
            {editable && (
              <Button size="xs" variant="default" onClick={onEdit} aria-label={`Edit ${name}`}>
                Edit
              </Button>
            )}
            {stored && (
              <Button
                size="xs"
                variant="light"
                color="red"
                onClick={() => setDeleting(true)}
                aria-label={`Delete ${name}`}
              >
                Delete…
              </Button>
            )}
          </Group>
        </Group>
        <dl className="facts">
          <div>
            <dt>Credential</dt>
            <dd>{originWords(provider)}</dd>
          </div>
          <div>
            <dt>Address</dt>
            <dd>{addressWords(provider)}</dd>
          </div>
        </dl>
        <Models provider={provider} />
        {configured && <DefaultModel key={provider.default_model} provider={provider} />}
        {configured && <Test provider={provider} />}
      </Stack>
      {deleting && <Delete provider={provider} onClose={() => setDeleting(false)} />}
    </Paper>
  )
}

/** What undoes "Make default": the environment or the rule says again which one it is. */
function TakeBack({ name }: { name: string }) {
  const takeBack = useChange((_: undefined) => settings.chooseProvider(''), {
    failed: 'Couldn’t take the choice back',
    said: ({ providers, default: now }) =>
      `${providers.find((one) => one.id === now)?.name ?? 'No provider'} is the default, by the environment or the rule`,
  })
  return (
    <Button
      size="xs"
      variant="default"
      loading={takeBack.isPending}
      onClick={() => takeBack.mutate(undefined)}
      aria-label={`No longer choose ${name} as the default`}
    >
      Take choice back
    </Button>
  )
}

function Models({ provider: { id, name, models, configured } }: { provider: ModelProvider }) {
  const list = useChange((_: undefined) => settings.listModels(id), {
    failed: 'Couldn’t list the models',
    said: ({ discovery }) =>
      discovery.error === null ? `${name} lists ${countWords(discovery.models.length, 'model')}` : '',
  })
  const fault = list.data?.discovery.error
  return (
    <Stack gap={4}>
      <Group gap="xs">
        {models.length > 0 ? (
          <Fold title="Models" hint={`${models.length}`}>
            <Text size="sm" className="mono" style={{ overflowWrap: 'anywhere' }}>
              {models.join(', ')}
            </Text>
          </Fold>
        ) : (
          <Text size="sm" c="dimmed">
            No models listed yet.
          </Text>
        )}
        {configured && (
          <Button
            size="compact-sm"
            variant="default"
            loading={list.isPending}
            onClick={() => list.mutate(undefined)}
            aria-label={`List the models of ${name}`}
          >
            List models
          </Button>
        )}
      </Group>
      {fault && (
        <Alert color="yellow" p="xs" role="status" title="No models listed">
          {fault}
        </Alert>
      )}
    </Stack>
  )
}

function Test({ provider: { id, name, models } }: { provider: ModelProvider }) {
  const [model, setModel] = useState('')
  const test = useChange((asked: string) => settings.testProvider(id, asked), {
    failed: 'Couldn’t test the provider',
  })
  const said = test.data && testWords(test.data)
  return (
    <Stack gap="xs">
      <Group gap="xs" align="flex-end">
        <Autocomplete
          size="xs"
          label="Model to test"
          placeholder="The default"
          data={[...models]}
          value={model}
          onChange={setModel}
          limit={50}
          maxLength={200}
          w={260}
        />
        <Button
          size="xs"
          variant="default"
          loading={test.isPending}
          onClick={() => test.mutate(model.trim())}
          aria-label={`Test ${name}`}
        >
          Test
        </Button>
      </Group>
      <div role="status">
        {test.isPending && (
          <Text size="sm" c="dimmed">
            One small call is made.
          </Text>
        )}
        {!test.isPending && said && (
          <Alert color={test.data?.ok ? 'teal' : 'red'} p="xs" title={said.title}>
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              {said.text}
            </Text>
          </Alert>
        )}
      </div>
    </Stack>
  )
}

function Delete({ provider: { id, name }, onClose }: { provider: ModelProvider; onClose: () => void }) {
  const remove = useChange((_: undefined) => settings.deleteProvider(id), {
    failed: `Couldn’t delete ${name}`,
    said: () => `Stored settings of ${name} deleted`,
    onDone: onClose,
  })
  return (
    <Modal opened onClose={onClose} title={`Delete ${name}?`} centered>
      <Stack>
        <Text size="sm">
          Its address and credential are forgotten here; the environment’s settings apply again. Agents that
          name it run on the default provider.
        </Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button color="red" loading={remove.isPending} onClick={() => remove.mutate(undefined)}>
            Delete
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
