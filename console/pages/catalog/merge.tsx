/** A commit applied by merging: what was changed by hand stays, and what both changed is as somebody chose. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { CatalogAdoption, CatalogSync, MergeChoice } from '../../../schemas/types.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { useChange } from '../../lib/use-change.ts'
import { PlanView } from '../../parts/plan-view.tsx'
import { Refusal } from '../../parts/refusal.tsx'
import { Section } from '../../parts/section.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'

/** Whose value a field gets. */
export type Side = 'file' | 'instance'

export const keyOf = ({ kind, name, path }: Pick<MergeChoice, 'kind' | 'name' | 'path'>): string =>
  `${kind}:${name}:${path}`

interface Props {
  sync: CatalogSync
  adoption: CatalogAdoption
  chosen: Readonly<Record<string, Side>>
  onChoose: (chosen: Readonly<Record<string, Side>>) => void
}

export function Merge({ sync, adoption, chosen, onChoose }: Props) {
  const { differences, conflicts } = adoption
  const both = differences.filter(({ changed_in: where }) => where === 'both')
  const isOf = (side: 'files' | 'instance') => differences.some(({ changed_in: where }) => where === side)
  const choices = both.flatMap((one): MergeChoice[] => {
    const take = chosen[keyOf(one)]
    return take ? [{ kind: one.kind, name: one.name, path: one.path, take }] : []
  })
  const isMerge = conflicts > 0 || (isOf('files') && isOf('instance'))
  const isManual = sync.repository?.policy === 'manual'
  const isSettled = choices.length === conflicts
  const planned = useQuery({
    queryKey: [...dkeys.catalog, 'merge', adoption.commit.id, sync.fingerprint, choices],
    queryFn: () => declared.syncCatalog({ merge: true, choices }),
    enabled: isMerge && isManual && isSettled,
    staleTime: 0,
    gcTime: 0,
  })
  const { plan = null, fingerprint } = planned.data ?? {}
  const apply = useChange(
    () =>
      declared.syncCatalog({ merge: true, choices, apply: true, ...(fingerprint ? { fingerprint } : {}) }),
    { said: () => 'Merged; what was changed by hand is still to be adopted', quiet: true },
  )
  if (!isMerge) return null
  const takeAll = (side: Side) => onChoose(Object.fromEntries(both.map((one) => [keyOf(one), side])))
  return (
    <Section title="Merge">
      <Stack gap="sm">
        <Text size="sm">{introOf(conflicts, isManual)}</Text>
        {isManual && conflicts > 0 && (
          <Group gap="xs">
            <Text size="sm" role="status">
              {choices.length} of {conflicts} chosen.
            </Text>
            <Button size="compact-sm" variant="default" onClick={() => takeAll('file')}>
              All from the files
            </Button>
            <Button size="compact-sm" variant="default" onClick={() => takeAll('instance')}>
              All from the instance
            </Button>
          </Group>
        )}
        {isManual && isSettled && planned.isPending && <LoadingRows rows={2} />}
        {planned.error && <Failed what="the plan" error={planned.error} />}
        {plan && <PlanView plan={plan} />}
        <Refusal error={apply.error} title="Couldn’t merge" />
        {isManual && (
          <Group>
            <Button disabled={!plan} loading={apply.isPending} onClick={() => apply.mutate(undefined)}>
              Apply, and keep what was changed by hand
            </Button>
          </Group>
        )}
      </Stack>
    </Section>
  )
}

function introOf(conflicts: number, isManual: boolean): string {
  if (!isManual)
    return 'The policy applies each commit as it is: what was changed by hand is overwritten unless the files say it.'
  if (conflicts === 0)
    return 'What the commit changed is applied, and what was changed by hand alone stays as it is.'
  return `${conflicts === 1 ? 'A field was' : `${conflicts} fields were`} changed in the files and by hand. Choose above what each is to be; what only one side changed is kept from that side.`
}
