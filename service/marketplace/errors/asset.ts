import { DomainError } from '../../kit/errors.ts'
import { didYouMean } from '../../kit/nearest.ts'

/** `meant` is the slug of a published one that was probably meant. */
export function assetMissing(meant: string | null = null): DomainError {
  return new DomainError('missing', 'rda_not_found', `There is no such RDA.${didYouMean(meant)}`, { didYouMean: meant })
}

/** Only to those who did not say who they are: whoever did and may not see it is told that there is none. */
export function draftNeedsOwner(): DomainError {
  return new DomainError('unauthenticated', 'draft_unauthenticated', 'This RDA is a draft: only its owner can read it.')
}

/** An agent's key lists what everybody sees. */
export function agentMayNotSee(): DomainError {
  return new DomainError('forbidden', 'agent_key_forbidden', "An agent's key lists published RDAs only.")
}

export function listNeedsOwner(): DomainError {
  return new DomainError(
    'unauthenticated',
    'unauthenticated',
    'Only published RDAs are listed for everybody: authenticate to list your own drafts and archived ones.',
  )
}

export function archivedStays(): DomainError {
  return new DomainError('conflict', 'rda_archived', 'This RDA is archived: publish it to bring it back.')
}

export function versionMoved(version: string): DomainError {
  return new DomainError(
    'conflict',
    'version_conflict',
    `This RDA was edited meanwhile: it is at version ${version}.`,
    {
      version,
    },
  )
}

export function ownRating(): DomainError {
  return new DomainError('forbidden', 'own_rda', 'Nobody rates their own RDA.')
}

export function ratingNeedsRun(): DomainError {
  return new DomainError('forbidden', 'run_required', 'Only somebody who ran this RDA successfully can rate it.')
}

export function alreadyRated(score: number): DomainError {
  return new DomainError('conflict', 'already_rated', 'You have rated this RDA already.', { score })
}

export function sourceNotForSale(): DomainError {
  return new DomainError('forbidden', 'source_not_for_sale', 'The template of this RDA is not for sale.')
}

export function notAPrompt(): DomainError {
  return new DomainError('invalid', 'not_a_prompt', 'Only a prompt has a template to be shown.', {
    details: { id: 'must be a prompt' },
  })
}

export function sourceDearer(price: number): DomainError {
  return new DomainError('unaffordable', 'max_cost_exceeded', 'The template costs more than maxCost.', {
    required: price,
  })
}
