"""The room of nested scores: trees and medians of scores of other families."""
