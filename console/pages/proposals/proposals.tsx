/** Changes that agents and keys propose, for a person to approve or decline. */
import { Button, Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useSearchParams } from 'react-router'
import * as calls from '../../../api/client/calls.ts'
import { ask } from '../../client.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'
import { ProposalCard } from './proposal-card.tsx'

const STATES = [
  { value: 'open', label: 'Open' },
  { value: 'approved', label: 'Approved' },
  { value: 'declined', label: 'Declined' },
  { value: 'withdrawn', label: 'Withdrawn' },
]

/** All of a state, or the one that the address names: links of agents and of messages lead to it. */
export function Proposals() {
  const [address] = useSearchParams()
  const id = address.get('proposal')
  return id ? <OneProposal key={id} id={id} /> : <AllProposals />
}

function OneProposal({ id }: { id: string }) {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: [...dkeys.proposals('one'), id],
    queryFn: () => ask(calls.getProposal, { id }),
    refetchInterval: 15_000,
  })
  return (
    <Stack>
      <Group>
        <Button component={Link} to="/changes" variant="default" size="xs">
          All proposals
        </Button>
      </Group>
      {isPending ? (
        <LoadingRows />
      ) : error ? (
        <Failed what="the proposal" error={error} onRetry={() => void refetch()} />
      ) : (
        <ProposalCard proposal={data} />
      )}
    </Stack>
  )
}

function AllProposals() {
  const [address, setAddress] = useSearchParams()
  const state = STATES.find(({ value }) => value === address.get('state'))?.value ?? 'open'
  return (
    <Stack>
      <Group>
        <SegmentedControl
          size="xs"
          aria-label="Which proposals"
          data={STATES}
          value={state}
          onChange={(value) => setAddress(value === 'open' ? {} : { state: value }, { replace: true })}
        />
      </Group>
      <ProposalList state={state} />
    </Stack>
  )
}

function ProposalList({ state }: { state: string }) {
  const { data, error, isPending, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } =
    useInfiniteQuery({
      queryKey: dkeys.proposals(state),
      initialPageParam: '',
      queryFn: ({ pageParam }) => declared.proposals(state, pageParam || undefined),
      getNextPageParam: (page) => page.next_before ?? undefined,
      refetchInterval: 15_000,
    })
  if (isPending) return <LoadingRows />
  if (error) return <Failed what="proposals" error={error} onRetry={() => void refetch()} />
  const proposals = data.pages.flatMap((page) => page.proposals)
  if (proposals.length === 0)
    return (
      <Empty title={state === 'open' ? 'No open proposals' : 'None'}>
        <Text c="dimmed" maw={560}>
          An agent that may only read can propose a change: it is planned, tried against stored events, and
          written when you approve it here. Exactly what you see is written, or nothing.
        </Text>
      </Empty>
    )
  return (
    <Stack>
      {proposals.map((proposal) => (
        <ProposalCard key={proposal.id} proposal={proposal} />
      ))}
      {hasNextPage && (
        <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show older proposals
        </Button>
      )}
    </Stack>
  )
}
