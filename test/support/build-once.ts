// Before all tests: build once, so that tests run what is shipped.
import { execFileSync } from 'node:child_process'

export default function setup(): void {
  execFileSync(process.execPath, ['collector/build.mjs'], { stdio: 'inherit' })
}
