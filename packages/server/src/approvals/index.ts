/** Approvals: a trade above the owner's limit waits for the owner's decision. */

export { approvalRecord } from './decide.ts';
export {
  ApprovalNeeded,
  type ApprovalSubject,
  approvalOf,
  askApproval,
  declined,
  findApproval,
  type GivenApproval,
  NO_OWNER_FIX,
  type ObtainApprovalNeeds,
  obtainApproval,
  requireApproval,
  withApproval,
} from './order-approval.ts';
export { bindApprovals } from './routes.ts';
export { type ApprovalTerms, createApprovalStore } from './store.ts';
