// What the verifier offers: verify a home or a bundle, write a bundle, read a trust file, say a report in words.
export { verifyBundle } from './bundle-file.ts'
export { exportBundle } from './bundle-write.ts'
export { type VerifyOptions, verifyHome } from './home.ts'
export type { ContentRef } from './open-content.ts'
export { exportProof } from './proof-write.ts'
export { renderReport } from './render.ts'
export type { Report } from './report.ts'
export { readTrust } from './trust.ts'
