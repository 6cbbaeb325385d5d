/** Small parts that most pages never need: the palette, the login, the menu of the demo's switch, what differs in texts and plans. One file for all. */

export { LoginPage } from '../pages/login/login-page.tsx'
export { BreakMenu } from '../parts/break-menu.tsx'
export { Palette } from '../parts/palette.tsx'
export { PlanBacktestRun } from '../parts/plan-backtest-run.tsx'
export { WordDiff } from '../parts/word-diff.tsx'
export { Workspaces } from '../parts/workspaces.tsx'
