/** Prices of models: those of this instance, which hold over the ones that come with svc. */

import { ActionIcon, Button, Group, Paper, Stack, Table, Text, TextInput, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Plus, Trash2 } from 'lucide-react'
import type { FormEvent } from 'react'
import type { ModelPrices } from '../../../schemas/types.ts'
import { type PriceRow, priceRow, pricesOf } from '../../lib/model-settings.ts'
import { useChange } from '../../lib/use-change.ts'
import { useDraft } from '../../lib/use-draft.ts'
import { useShown } from '../../lib/use-shown.ts'
import { DraftRestored } from '../../parts/draft-restored.tsx'
import { NumberInput } from '../../parts/number-input.tsx'
import { Refusal } from '../../parts/refusal.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { WideTable } from '../../parts/wide-table.tsx'
import { settings, skeys } from '../../settings-client.ts'

export function Prices() {
  const { data, error, refetch } = useQuery({ queryKey: skeys.prices, queryFn: settings.prices })
  const { shown, round, reload } = useShown(data, refetch)
  if (error) return <Failed what="prices" error={error} onRetry={() => void refetch()} />
  if (!shown) return <LoadingRows />
  return (
    <Stack maw={860} gap="lg">
      <OwnPrices key={round} prices={shown} onSaved={() => void reload()} />
      <Shipped prices={shown} />
    </Stack>
  )
}

const BLANK: PriceRow = { prefix: '', input: null, output: null, cached: null }
const NUMBERS = [
  { field: 'input', label: 'Input', max: 1_000_000 },
  { field: 'output', label: 'Output', max: 1_000_000 },
  { field: 'cached', label: 'Cached part', max: 1 },
] as const

function OwnPrices({ prices, onSaved }: { prices: ModelPrices; onSaved: () => void }) {
  const kept = useDraft({ form: 'prices', start: prices.own.map(priceRow) })
  const { value: rows, set: setRows } = kept
  const put = (at: number, change: Partial<PriceRow>) =>
    setRows(rows.map((row, i) => (i === at ? { ...row, ...change } : row)))
  const written = pricesOf(rows)
  const save = useChange((_: undefined) => settings.savePrices({ prices: written ?? [] }), {
    said: () => 'Prices saved; used from the next call',
    onDone: () => {
      kept.done()
      onSaved()
    },
    quiet: true,
  })
  return (
    <section aria-label="Own prices">
      <Stack
        component="form"
        onSubmit={(event: FormEvent) => {
          event.preventDefault()
          if (written !== null) save.mutate(undefined)
        }}
      >
        <Title order={2}>Own prices</Title>
        <Text size="sm" c="dimmed">
          US dollars per million tokens, by how the model’s name begins; the longest match counts. Cached is
          what a token from the cache costs, as a part of input.
        </Text>
        <DraftRestored of={kept} />
        {rows.map((row, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity but their place.
          <Group key={i} gap="xs" wrap="nowrap">
            <TextInput
              aria-label={`Model of price ${i + 1}`}
              required
              placeholder="model-name"
              value={row.prefix}
              onChange={(event) => put(i, { prefix: event.currentTarget.value })}
              style={{ flex: 1 }}
              maxLength={200}
            />
            {NUMBERS.map(({ field, label, max }) => (
              <NumberInput
                key={field}
                aria-label={`${label} of price ${i + 1}`}
                required={field !== 'cached'}
                placeholder={label}
                value={row[field] ?? ''}
                onChange={(value) => put(i, { [field]: value === '' ? null : Number(value) })}
                min={0}
                max={max}
                w={120}
              />
            ))}
            <ActionIcon
              variant="subtle"
              color="red"
              aria-label={`Remove price ${i + 1}`}
              onClick={() => setRows(rows.filter((_row, at) => at !== i))}
            >
              <Trash2 size={15} aria-hidden />
            </ActionIcon>
          </Group>
        ))}
        <Refusal title="Couldn’t save the prices" error={save.error} />
        <Group>
          <Button
            variant="default"
            leftSection={<Plus size={14} aria-hidden />}
            onClick={() => setRows([...rows, BLANK])}
          >
            Add a price
          </Button>
          <Button type="submit" loading={save.isPending}>
            Save prices
          </Button>
          {written === null && (
            <Text size="sm" c="dimmed">
              Each needs a model, a price of input and one of output.
            </Text>
          )}
        </Group>
      </Stack>
    </section>
  )
}

function Shipped({ prices: { shipped, own, updated } }: { prices: ModelPrices }) {
  const over = new Set(own.map(({ prefix }) => prefix))
  return (
    <Stack component="section" aria-label="Prices that come with svc">
      <Title order={2}>Prices that come with svc</Title>
      <Text size="sm" c="dimmed">
        Last looked at on {updated.slice(0, 10)}. A model that matches none has no price: only its tokens are
        counted.
      </Text>
      <Paper withBorder radius="md">
        <WideTable minWidth={420}>
          <Table verticalSpacing={4} aria-label="Prices that come with svc">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Model begins with</Table.Th>
                <Table.Th ta="right">Input</Table.Th>
                <Table.Th ta="right">Output</Table.Th>
                <Table.Th ta="right">Cached part</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {shipped.map(({ prefix, input, output, cached }) => (
                <Table.Tr key={prefix}>
                  <Table.Td className="mono">
                    {prefix}
                    {over.has(prefix) && ' (overridden by an own price)'}
                  </Table.Td>
                  <Table.Td ta="right">{input}</Table.Td>
                  <Table.Td ta="right">{output}</Table.Td>
                  <Table.Td ta="right">{cached ?? '—'}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </WideTable>
      </Paper>
    </Stack>
  )
}
