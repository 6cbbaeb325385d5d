/** Tabs of a page, each with what it shows; the address holds which. */
import { Tabs } from '@mantine/core'
import { type ReactNode, useLayoutEffect, useRef } from 'react'
import { type Tab, useTab } from '../lib/use-tab.ts'
import { useMay } from './may.tsx'

export interface PageTab extends Tab {
  content: ReactNode
}

/** @param was what tabs were called before, and what they are called now */
export function PageTabs({
  tabs,
  was,
}: {
  tabs: readonly PageTab[]
  was?: Readonly<Record<string, string>>
}) {
  const [tab, go] = useTab(tabs, was)
  return (
    <Tabs value={tab} onChange={go} keepMounted={false}>
      <TabRow tabs={tabs} chosen={tab} />
      {tabs.map(({ value, content }) => (
        <Tabs.Panel key={value} value={value}>
          {content}
        </Tabs.Panel>
      ))}
    </Tabs>
  )
}

/**
 * Tabs in one row, which scrolls where it is wider than its place; the one that is chosen is in view. That of a form is
 * named by what it shows to whoever may not change it.
 */
export function TabRow({ tabs, chosen }: { tabs: readonly Tab[]; chosen: string }) {
  const row = useRef<HTMLDivElement>(null)
  const may = useMay()
  useLayoutEffect(() => {
    const list = row.current!
    const tab = list.querySelector<HTMLElement>(`[data-tab="${chosen}"]`)
    // Not scrollIntoView, which would move the page, too.
    if (tab) list.scrollLeft = tab.offsetLeft - (list.clientWidth - tab.offsetWidth) / 2
  }, [chosen])
  return (
    <Tabs.List ref={row} mb="md" className="tab-row">
      {tabs.map(({ value, label }) => (
        <Tabs.Tab key={value} value={value} data-tab={value}>
          {value === 'edit' && !may ? 'Definition' : label}
        </Tabs.Tab>
      ))}
    </Tabs.List>
  )
}
