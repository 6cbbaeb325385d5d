/** Small parts that most pages never need: the doors of an empty Home, the demo's switch, the login, what differs in texts and plans. One file for all. */

export { default as ConsentPage } from '../pages/connect/consent-page.tsx'
export { Doors } from '../pages/home/doors.tsx'
export { LoginPage } from '../pages/login/login-page.tsx'
export { DemoSwitch } from '../parts/demo-switch.tsx'
export { PlanBacktestRun } from '../parts/plan-backtest-run.tsx'
export { WordDiff } from '../parts/word-diff.tsx'
